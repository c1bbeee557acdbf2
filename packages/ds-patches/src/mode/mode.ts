/** Which part this process plays for the DaemonSets (DSP-101 to 110). */
import type { Signal } from "./signals.ts";

/** Values of the flag `daemonset-mode`. */
export type ModeFlag = "auto" | "owner" | "companion" | "off";

/**
 * `owner`: controls the pods. `companion`: OpenKruise does, pods are patched as they are created. `waiting`: there are no
 * DaemonSets in the cluster yet. `blocked`: nothing is done, for somebody else may act. `off`: not wanted.
 */
export const MODES: readonly Mode[] = ["owner", "companion", "waiting", "blocked", "off"];
export type Mode = "owner" | "companion" | "waiting" | "blocked" | "off";

/** What the mode follows from, once it is known. */
export interface Situation {
  readonly signals: readonly Signal[];
  /** The kind is defined. */
  readonly isDefined: boolean;
}

/**
 * The mode that follows. A process that has become a companion stays one, whatever goes away (DSP-109, 110); one that
 * acts as owner gives way to OpenKruise for good (DSP-107), and does nothing while the definition is not ours, since
 * another one drops the patches.
 */
export function nextMode(
  flag: Exclude<ModeFlag, "off">,
  current: Mode,
  { signals, isDefined }: Situation,
): Mode {
  if (flag === "companion" || current === "companion") return "companion";
  const isRunning = signals.some(({ id }) => id !== "crd");
  if (isRunning) return flag === "auto" || current === "owner" ? "companion" : "blocked";
  if (signals.length > 0) return flag === "auto" && current === "waiting" ? "companion" : "blocked";
  return isDefined ? "owner" : "waiting";
}
