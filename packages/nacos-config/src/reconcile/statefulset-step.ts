/** Creates, adopts and updates the StatefulSet. */
import type { DeepReadonly } from "@quartet/core";
import { type ClaimChange, claimChange } from "../desired/claims.ts";
import type { StatefulSet } from "../desired/k8s.ts";
import { claimOf } from "../desired/ownership.ts";
import { allowsRecreate } from "../desired/recreate.ts";
import { knownRevision, LATEST_REVISION } from "../desired/revision.ts";
import {
  newStatefulSet,
  requestedRevision,
  revisionOf,
  type StatefulSetUpdate,
  updatedStatefulSet,
  wantedTemplate,
} from "../desired/statefulset.ts";
import { podTemplate } from "../desired/template.ts";
import { dataVolume, type MountedConfig, mountedConfig } from "../desired/volumes.ts";
import { STATEFUL_SET } from "../kinds.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { type Decision, ensure } from "./ensure.ts";
import { claimFailure, podSpecRejection } from "./failure.ts";
import { type ResourceMemory, updateFingerprint } from "./memory.ts";
import { childKey, childOptions, type Pass } from "./pass.ts";
import { beginRecreation, endRecreation, type Recreation, recreationOf } from "./recreate-step.ts";
import { settledNotices, statefulSetNotices } from "./statefulset-notices.ts";

/** What the step did. */
export interface StatefulSetResult {
  /** Ours after the pass; absent when there is none. */
  readonly object?: DeepReadonly<StatefulSet>;
  /** The pods will be replaced for another configuration. */
  readonly configRollout: boolean;
  /** Number of nodes before, when it was changed. */
  readonly scaledFrom?: number;
  /** It was deleted to be made anew; its pods run on. */
  readonly recreating: boolean;
}

/** What was decided about the StatefulSet. */
export interface Made {
  readonly failure?: StepFailure;
  /** It cannot have the volumes that are wanted unless it is made anew. */
  readonly volumes?: ClaimChange;
  readonly update?: StatefulSetUpdate;
  readonly before?: DeepReadonly<StatefulSet>;
}

/** Brings the StatefulSet to what is wanted. */
export async function statefulSetStep(
  pass: Pass,
  wanted: MountedConfig,
  memory: ResourceMemory,
): Promise<StatefulSetResult> {
  const { name } = pass.settings;
  const recreation = recreationOf(pass);
  try {
    const options = childOptions(pass, STATEFUL_SET, pass.informers.statefulSets, name);
    const { object, action, result } = await ensure(options, (live) =>
      decide(pass, wanted, memory, recreation, live),
    );
    const going = object?.metadata.deletionTimestamp !== undefined;
    if (recreation !== undefined && object !== undefined && !going) await endRecreation(pass, recreation);
    const failure = result.failure ?? (await changeVolumes(pass, wanted, result));
    if (failure !== undefined) {
      const waiting = recreation !== undefined && failure.reason === "WaitingForGarbageCollection";
      if (!waiting) pass.failures.push(failure);
      const ours = object !== undefined && claimOf(object, pass.resource).state === "ours";
      return { configRollout: false, recreating: waiting, ...(ours ? { object } : {}) };
    }
    if (result.volumes !== undefined) return { configRollout: false, recreating: true };
    // The answer to a dry run has the old version, whatever it would change.
    const settled = pass.ctx.dryRun !== true && noteSettled(memory, result, object);
    const configRollout = rollsConfig(result, object);
    pass.notices.push(
      ...(settled ? settledNotices(pass, result) : statefulSetNotices(pass, action, result, configRollout)),
    );
    return {
      configRollout,
      recreating: false,
      ...(object === undefined ? {} : { object }),
      ...(result.update?.replicasChanged ? { scaledFrom: result.before?.spec.replicas ?? 1 } : {}),
    };
  } catch (error) {
    pass.failures.push(podSpecRejection(`StatefulSet ${name}`, error));
    const live = pass.informers.statefulSets.get(childKey(pass, name));
    return { configRollout: false, recreating: false, ...(live === undefined ? {} : { object: live }) };
  }
}

function decide(
  pass: Pass,
  wanted: MountedConfig,
  memory: ResourceMemory,
  recreation: Recreation | undefined,
  live: DeepReadonly<StatefulSet> | undefined,
): Decision<StatefulSet, Made> {
  const { resource, settings } = pass;
  if (live === undefined) {
    const object = recreation?.manifest ?? newStatefulSet(resource, settings, wanted);
    return { action: "create", object, result: {} };
  }
  const refused = claimFailure(`StatefulSet ${settings.name}`, claimOf(live, resource, true));
  if (refused !== undefined) return { action: "none", result: { failure: refused } };
  const volumes = wantedVolumes(pass, wanted, live);
  if (volumes.change !== "none") return { action: "none", result: { volumes, before: live } };
  const update = updatedStatefulSet(resource, settings, wanted, live);
  if (!update.changed || memory.settled === updateFingerprint(live, update.object)) {
    return { action: "none", result: { before: live } };
  }
  return { action: "update", object: update.object, result: { update, before: live } };
}

function wantedVolumes(pass: Pass, wanted: MountedConfig, live: DeepReadonly<StatefulSet>): ClaimChange {
  const { resource, settings } = pass;
  const revision = requestedRevision(resource) ?? knownRevision(revisionOf(live)) ?? LATEST_REVISION;
  const claim = dataVolume(settings.spec)?.claim;
  const template = podTemplate(settings, wanted, revision);
  return claimChange({ template, claims: claim === undefined ? [] : [claim] }, live);
}

/** Makes the StatefulSet anew for other volumes where that is safe or allowed; else tells why not. */
async function changeVolumes(
  pass: Pass,
  wanted: MountedConfig,
  { volumes, before }: Made,
): Promise<StepFailure | undefined> {
  if (volumes === undefined || volumes.change === "none" || before === undefined) return undefined;
  const { resource, settings } = pass;
  const claim = dataVolume(settings.spec)?.claim;
  const claims = claim === undefined ? [] : [claim];
  if (volumes.change === "grown") return beginRecreation(pass, before, volumes, { claims });
  const code = EVENT_CODES.badParameter;
  const sizes = `from ${volumes.from} to ${volumes.to}`;
  if (volumes.change === "shrunk") {
    const message = `spec.volume: storage cannot shrink ${sizes}; set it back`;
    return { code, reason: "VolumeShrinkRefused", message };
  }
  if (allowsRecreate(resource)) {
    const template = wantedTemplate(resource, settings, wanted, before);
    return beginRecreation(pass, before, volumes, { claims, ...(template && { template }) });
  }
  const message = `spec.volume: the ${volumes.what} cannot change ${sizes} on an existing StatefulSet; set it back`;
  return { code, reason: "VolumeChangeUnsupported", message };
}

/**
 * Remembers an update that the server took without any change: it gives some value another form than is known here, or
 * drops it. True for such an update.
 */
function noteSettled(
  memory: ResourceMemory,
  { update, before }: Made,
  after: DeepReadonly<StatefulSet> | undefined,
): boolean {
  if (update === undefined || before === undefined) return false;
  if (before.metadata.resourceVersion !== after?.metadata.resourceVersion) return false;
  memory.settled = updateFingerprint(before, update.object);
  return true;
}

/** True when an existing StatefulSet mounts another configuration than before. */
function rollsConfig({ update, before }: Made, after: DeepReadonly<StatefulSet> | undefined): boolean {
  if (update?.templateChange === undefined || before === undefined || after === undefined) return false;
  return JSON.stringify(mountedConfig(before)) !== JSON.stringify(mountedConfig(after));
}
