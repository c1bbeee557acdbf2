/** Events that tell of a change between two statuses. */
import type { Condition } from "@quartet/core";
import { type Notice, normal, warning } from "../desired/notice.ts";
import type { NacosStatus } from "./status.ts";

/** Conditions whose fall is worth a warning under its own reason. */
const WATCHED = ["SpecValid", "ConfigReady", "DatabaseReady", "AdminReady"];
/** Reasons of the Ready condition that say no more than the phase does. */
const PLAIN_REASONS = ["SpecInvalid", "ConfigNotReady", "Creating", "Failed", "TooFewReady"];

/** What happened between two statuses of a resource. */
export function transitions(before: NacosStatus, after: NacosStatus): Notice[] {
  const notices: Notice[] = [];
  for (const type of WATCHED) {
    const now = fallen(before, after, type);
    if (now?.status === "False") notices.push(warning(now.reason, now.message));
  }
  const ready = fallen(before, after, "Ready");
  if (ready !== undefined && !PLAIN_REASONS.includes(ready.reason)) {
    notices.push(warning(ready.reason, ready.message));
  }
  if (after.phase === "Failed" && before.phase !== "Failed") {
    notices.push(warning("Failed", after.event?.at(-1)?.message ?? "the installation has failed"));
  }
  if (after.phase === "Running" && before.phase === "Failed") {
    notices.push(normal("Recovered", "the nodes form a healthy installation again"));
  }
  const verified = find(after, "NodesVerified");
  if (verified?.status === "Unknown" && find(before, "NodesVerified")?.reason !== verified.reason) {
    if (verified.reason === "AuthRequired") notices.push(warning(verified.reason, verified.message));
  }
  const progress = find(after, "Progressing");
  if (progress?.reason === "RolloutComplete" && isMoving(find(before, "Progressing"))) {
    notices.push(normal("RolloutComplete", `${progress.message} nodes run the latest template`));
  }
  return notices;
}

/** The condition when it is not True for another reason than before. */
function fallen(before: NacosStatus, after: NacosStatus, type: string): Condition | undefined {
  const now = find(after, type);
  if (now === undefined || now.status === "True") return undefined;
  const then = find(before, type);
  return then?.status === now.status && then.reason === now.reason ? undefined : now;
}

function find(status: NacosStatus, type: string): Condition | undefined {
  return status.operatorConditions?.find((condition) => condition.type === type);
}

function isMoving(condition: Condition | undefined): boolean {
  return condition?.reason === "RollingUpdate" || condition?.reason === "Scaling";
}
