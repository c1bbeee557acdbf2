/** Writes the configuration object and tells which configuration the pods are to mount. */
import type { DeepReadonly } from "@quartet/core";
import type { ConfigObject, StatefulSet } from "@quartet/core/kinds";
import type { ConfigResult, ReadyConfig } from "../desired/config.ts";
import { configObjectPlan, updatedConfigObject, wantedConfig } from "../desired/config-object.ts";
import { normal, warning } from "../desired/notice.ts";
import { type ConfigProblem, isProblem } from "../desired/source.ts";
import { mountedConfig } from "../desired/volumes.ts";
import { type ConfigKind, configKind } from "../kinds.ts";
import type { Pass } from "./pass.ts";
import { findSource } from "./references.ts";

/**
 * Provides the configuration. When it cannot be provided, what the live StatefulSet mounts stays wanted.
 * @param writes false for a pass that must not change anything
 */
export async function configStep(
  pass: Pass,
  live: DeepReadonly<StatefulSet> | undefined,
  writes: boolean,
): Promise<ConfigResult> {
  const inForce = live === undefined ? {} : { wanted: mountedConfig(live) };
  const config = wantedConfig(pass.settings, (ref) => findSource(pass, ref));
  if (isProblem(config)) return { ...inForce, problem: config };
  const { mounted: wanted, object, ready } = config;
  const problem = writes && object !== undefined ? await write(pass, object, ready) : undefined;
  if (problem !== undefined) return { ...inForce, problem };
  return { wanted, ...(ready && { ready }) };
}

/** @param ready what the object was merged to; absent in legacy mode */
async function write(
  { children, notices }: Pass,
  desired: ConfigObject,
  ready: ReadyConfig | undefined,
): Promise<ConfigProblem | undefined> {
  const name = desired.metadata.name ?? "";
  const child = { kind: configKind(desired.kind as ConfigKind), name };
  const { before, action, problem } = await children.ensure(child, configObjectPlan(desired));
  if (problem !== undefined) {
    const { cause, reason, message } = problem;
    const reasons = ready
      ? { foreign: "FinalConfigConflict", failed: "FinalConfigWriteFailed" }
      : { foreign: "LegacyConfigConflict", failed: "LegacyConfigWriteFailed" };
    if (cause === "leaving") return { reason, message };
    return { reason: cause === "foreign" ? reasons.foreign : reasons.failed, message };
  }
  if (action === "none") return undefined;
  const subject = `${desired.kind} ${name}`;
  const change = before && updatedConfigObject(desired, before);
  if (ready === undefined) {
    const note = `${subject} has changed; running pods keep the old properties until they are restarted`;
    if (change?.contentChanged) notices.push(warning("RestartRequired", note));
  } else if (change?.drift) {
    notices.push(warning("FinalConfigDriftRepaired", `${subject} was edited by hand and is restored`));
  } else if (change === undefined || change.contentChanged) {
    notices.push(normal("ConfigMerged", `${ready.message}; digest ${ready.digest} in ${subject}`));
  }
  return undefined;
}
