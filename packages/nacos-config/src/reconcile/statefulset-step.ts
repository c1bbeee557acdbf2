/** Creates, adopts and updates the StatefulSet. */
import type { DeepReadonly } from "@quartet/core";
import { type ClaimChange, claimChange } from "../desired/claims.ts";
import type { StatefulSet } from "../desired/k8s.ts";
import { type Notice, normal, warning } from "../desired/notice.ts";
import { claimOf } from "../desired/ownership.ts";
import { knownRevision, LATEST_REVISION } from "../desired/revision.ts";
import {
  newStatefulSet,
  requestedRevision,
  revisionOf,
  type StatefulSetUpdate,
  updatedStatefulSet,
} from "../desired/statefulset.ts";
import { podTemplate } from "../desired/template.ts";
import { dataVolume, type MountedConfig, mountedConfig } from "../desired/volumes.ts";
import { STATEFUL_SET } from "../kinds.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { type Decision, ensure } from "./ensure.ts";
import { claimFailure, podSpecRejection } from "./failure.ts";
import { type ResourceMemory, updateFingerprint } from "./memory.ts";
import { childOptions, type Pass } from "./pass.ts";

/** What the step did. */
export interface StatefulSetResult {
  /** Ours after the pass; absent when there is none. */
  readonly object?: DeepReadonly<StatefulSet>;
  /** The pods will be replaced for another configuration. */
  readonly configRollout: boolean;
  /** Number of nodes before, when it was changed. */
  readonly scaledFrom?: number;
}

interface Made {
  readonly failure?: StepFailure;
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
  const subject = `StatefulSet ${name}`;
  try {
    const options = childOptions(pass, STATEFUL_SET, pass.informers.statefulSets, name);
    const { object, action, result } = await ensure(options, (live) => decide(pass, wanted, memory, live));
    if (result.failure !== undefined) {
      pass.failures.push(result.failure);
      const ours = object !== undefined && claimOf(object, pass.resource).state === "ours";
      return { configRollout: false, ...(ours ? { object } : {}) };
    }
    noteSettled(memory, result, object);
    const configRollout = rollsConfig(result, object);
    pass.notices.push(...noticesOf(pass, action, result, configRollout));
    return {
      configRollout,
      ...(object === undefined ? {} : { object }),
      ...(result.update?.replicasChanged ? { scaledFrom: result.before?.spec.replicas ?? 1 } : {}),
    };
  } catch (error) {
    pass.failures.push(podSpecRejection(subject, error));
    const live = pass.informers.statefulSets.get({ namespace: pass.settings.namespace, name });
    return { configRollout: false, ...(live === undefined ? {} : { object: live }) };
  }
}

function decide(
  pass: Pass,
  wanted: MountedConfig,
  memory: ResourceMemory,
  live: DeepReadonly<StatefulSet> | undefined,
): Decision<StatefulSet, Made> {
  const { resource, settings } = pass;
  if (live === undefined) {
    return { action: "create", object: newStatefulSet(resource, settings, wanted), result: {} };
  }
  const refused = claimFailure(`StatefulSet ${settings.name}`, claimOf(live, resource, true));
  if (refused !== undefined) return { action: "none", result: { failure: refused } };
  const volumes = volumeFailure(wantedVolumes(pass, wanted, live));
  if (volumes !== undefined) return { action: "none", result: { failure: volumes } };
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

function volumeFailure(change: ClaimChange): StepFailure | undefined {
  if (change.change === "none") return undefined;
  const code = EVENT_CODES.badParameter;
  const sizes = `from ${change.from} to ${change.to}`;
  if (change.change === "shrunk") {
    const message = `spec.volume: storage cannot shrink ${sizes}; set it back`;
    return { code, reason: "VolumeShrinkRefused", message };
  }
  const what = change.change === "unsupported" ? change.what : "storage request";
  const message = `spec.volume: the ${what} of an existing StatefulSet cannot change ${sizes}; set it back`;
  return { code, reason: "VolumeChangeUnsupported", message };
}

/** Remembers an update that the server took without any change: it holds additions that are not known here. */
function noteSettled(
  memory: ResourceMemory,
  { update, before }: Made,
  after: DeepReadonly<StatefulSet> | undefined,
): void {
  if (update === undefined || before === undefined) return;
  const unchanged = before.metadata.resourceVersion === after?.metadata.resourceVersion;
  if (unchanged) memory.settled = updateFingerprint(before, update.object);
}

/** True when an existing StatefulSet mounts another configuration than before. */
function rollsConfig({ update, before }: Made, after: DeepReadonly<StatefulSet> | undefined): boolean {
  if (update?.templateChange === undefined || before === undefined || after === undefined) return false;
  return JSON.stringify(mountedConfig(before)) !== JSON.stringify(mountedConfig(after));
}

function noticesOf(
  { settings }: Pass,
  action: Decision<StatefulSet, Made>["action"],
  { update, before }: Made,
  configRollout: boolean,
): Notice[] {
  if (action === "create") return [normal("Created", `StatefulSet ${settings.name} created`)];
  if (update === undefined) return [];
  const notices: Notice[] = [];
  if (update.drift) {
    const note = `StatefulSet ${settings.name} was edited by hand at ${update.templateChange}; it is put back`;
    notices.push(warning("StatefulSetDriftRepaired", note));
  }
  if (configRollout) {
    notices.push(normal("ConfigRollout", "the configuration has changed; the pods are replaced one by one"));
  }
  if (update.replicasChanged) {
    const rolls =
      settings.type === "cluster" ? "; the member list changes, so every pod is replaced once" : "";
    const from = before?.spec.replicas ?? 1;
    notices.push(normal("Scaling", `from ${from} to ${settings.replicas} nodes${rolls}`));
  }
  return notices;
}
