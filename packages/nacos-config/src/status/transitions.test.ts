import { describe, expect, it } from "vitest";
import type { NacosStatus } from "./status.ts";
import { transitions } from "./transitions.ts";

type Entry = [type: string, status: "True" | "False" | "Unknown", reason: string];

function status(phase: string, ...conditions: Entry[]): NacosStatus {
  return {
    phase: phase as "Running",
    event: [{ status: false, code: 401, message: "node is not up" }],
    operatorConditions: conditions.map(([type, value, reason]) => ({
      type,
      status: value,
      reason,
      message: `about ${reason}`,
      lastTransitionTime: "t",
    })),
  };
}
const told = (before: NacosStatus, after: NacosStatus): string[] =>
  transitions(before, after).map(({ type, reason }) => `${type} ${reason}`);

describe("events about transitions", () => {
  it("NACOS-918 NACOS-204 tells each change once and nothing when nothing changed", () => {
    const good = status("Running", ["ConfigReady", "True", "Merged"]);
    const lost = status("Running", ["ConfigReady", "False", "SourceNotFound"]);
    expect(told(good, lost)).toEqual(["Warning SourceNotFound"]);
    expect(told(lost, lost)).toEqual([]);
    expect(told(lost, status("Running", ["ConfigReady", "False", "KeyNotFound"]))).toEqual([
      "Warning KeyNotFound",
    ]);
    expect(told(lost, good)).toEqual([]);
  });

  it("NACOS-918 tells of failure with its message, and of recovery", () => {
    const [failed] = transitions(status("Running"), status("Failed"));
    expect(failed).toEqual({ type: "Warning", reason: "Failed", note: "node is not up" });
    expect(told(status("Failed"), status("Running"))).toEqual(["Normal Recovered"]);
    expect(told(status("Creating"), status("Running"))).toEqual([]);
  });

  it("NACOS-918 tells of a complete rollout, not of every settled pass", () => {
    const rolling = status("Running", ["Progressing", "True", "RollingUpdate"]);
    const complete = status("Running", ["Progressing", "False", "RolloutComplete"]);
    expect(told(rolling, complete)).toEqual(["Normal RolloutComplete"]);
    expect(told(complete, complete)).toEqual([]);
    expect(told(status("Creating", ["Progressing", "True", "Creating"]), complete)).toEqual([]);
  });

  it("NACOS-909 advises an identity when the nodes ask for a login", () => {
    const before = status("Running", ["NodesVerified", "True", "Verified"]);
    const after = status("Running", ["NodesVerified", "Unknown", "AuthRequired"]);
    expect(told(before, after)).toEqual(["Warning AuthRequired"]);
    expect(told(after, after)).toEqual([]);
  });

  it("NACOS-413 tells of conflicts, but not of what the phase says already", () => {
    const fine = status("Running", ["Ready", "True", "Running"]);
    expect(told(fine, status("Running", ["Ready", "False", "ResourceConflict"]))).toEqual([
      "Warning ResourceConflict",
    ]);
    expect(told(fine, status("Running", ["Ready", "False", "TooFewReady"]))).toEqual([]);
  });
});
