/** Tolerations of daemon pods, and what they tolerate (DSP-719 to 724). */
import type { Taint, Toleration } from "./objects.ts";

/** What every daemon pod tolerates, in this order (upstream: the DaemonSet controller). */
const DEFAULTS: readonly (readonly [key: string, effect: string])[] = [
  ["node.kubernetes.io/not-ready", "NoExecute"],
  ["node.kubernetes.io/unreachable", "NoExecute"],
  ["node.kubernetes.io/disk-pressure", "NoSchedule"],
  ["node.kubernetes.io/memory-pressure", "NoSchedule"],
  ["node.kubernetes.io/pid-pressure", "NoSchedule"],
  ["node.kubernetes.io/unschedulable", "NoSchedule"],
];
const HOST_NETWORK_DEFAULT = ["node.kubernetes.io/network-unavailable", "NoSchedule"] as const;

/** The tolerations of a template with the defaults: an equal one is replaced where it stands, others are appended. */
export function withDefaultTolerations(
  own: readonly Toleration[],
  hostNetwork: boolean,
): readonly Toleration[] {
  const result = [...own];
  for (const [key, effect] of hostNetwork ? [...DEFAULTS, HOST_NETWORK_DEFAULT] : DEFAULTS) {
    const toleration = { key, operator: "Exists", effect };
    const same = result.findIndex(
      (other) => other.key === key && other.operator === "Exists" && !other.value && other.effect === effect,
    );
    if (same < 0) result.push(toleration);
    else result[same] = toleration;
  }
  return result;
}

/** Whether one of the tolerations lets the taint pass. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => {
    const { key = "", operator = "", value = "", effect = "" } = toleration;
    if (effect !== "" && effect !== taint.effect) return false;
    if (key === "") return operator === "Exists";
    if (key !== taint.key) return false;
    if (operator === "Exists") return true;
    return (operator === "" || operator === "Equal") && value === (taint.value ?? "");
  });
}
