/** The mini-kubelet. */
export {
  type MiniKubelet,
  type MiniKubeletOptions,
  type MiniKubeletPart,
  startMiniKubelet,
} from "./mini-kubelet.ts";
