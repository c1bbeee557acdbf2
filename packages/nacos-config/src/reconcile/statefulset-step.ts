/** Creates, adopts and updates the StatefulSet. */
import type { DeepReadonly } from "@quartet/core";
import { StrategicMergeError } from "@quartet/strategic-merge";
import { type ClaimChange, claimChange } from "../desired/claims.ts";
import type { StatefulSet } from "../desired/k8s.ts";
import { allowsRecreate } from "../desired/recreate.ts";
import { knownRevision, LATEST_REVISION } from "../desired/revision.ts";
import { isForcedAdoption } from "../desired/settings.ts";
import {
  newStatefulSet,
  requestedRevision,
  revisionOf,
  updatedStatefulSet,
  wantedTemplate,
} from "../desired/statefulset.ts";
import { podTemplate } from "../desired/template.ts";
import { dataVolume, type MountedConfig, mountedConfig } from "../desired/volumes.ts";
import { STATEFUL_SET } from "../kinds.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { podSpecFailure } from "./failure.ts";
import type { Pass } from "./pass.ts";
import { beginRecreation, endRecreation, recreationOf } from "./recreate-step.ts";
import type { Hold } from "./rollout-hold.ts";
import { type Made, settledNotices, statefulSetNotices } from "./statefulset-notices.ts";

/** What the step did. */
export interface StatefulSetResult {
  /** Ours after the pass; absent when there is none. */
  readonly object?: DeepReadonly<StatefulSet>;
  /** The pods will be replaced for another configuration. */
  readonly configRollout: boolean;
  /** Number of nodes before, when it was changed. */
  readonly scaledFrom?: number;
  /** The StatefulSet was deleted to be made anew; its pods run on. */
  readonly recreating: boolean;
  /** A change of the pods waits for so many ready ones to become available. */
  readonly awaited?: number;
}

/** Brings the StatefulSet to what is wanted. */
export async function statefulSetStep(
  pass: Pass,
  wanted: MountedConfig,
  hold: Hold,
): Promise<StatefulSetResult> {
  try {
    return await ensureStatefulSet(pass, wanted, hold);
  } catch (error) {
    if (!(error instanceof StrategicMergeError)) throw error;
    const { children, settings, failures } = pass;
    const message = `StatefulSet ${settings.name}: a list of the pod has an element without the field that tells it apart`;
    failures.push(podSpecFailure({ cause: "invalid", reason: "Invalid", message }));
    const object = children.read(STATEFUL_SET, settings.name);
    return { configRollout: false, recreating: false, ...(object && { object }) };
  }
}

async function ensureStatefulSet(pass: Pass, wanted: MountedConfig, hold: Hold): Promise<StatefulSetResult> {
  const { resource, settings, children, failures, notices } = pass;
  const recreation = recreationOf(pass);
  let made: Made = {};
  const { object, action, problem } = await children.ensure<StatefulSet>(
    { kind: STATEFUL_SET, name: settings.name, force: isForcedAdoption(resource) },
    {
      create() {
        made = {};
        return recreation?.manifest ?? newStatefulSet(resource, settings, wanted);
      },
      update(live) {
        made = decide(pass, wanted, live, hold);
        return made.update?.object ?? live;
      },
    },
  );
  const { awaited } = made;
  const result = {
    configRollout: false,
    recreating: false,
    ...(object && { object }),
    ...(awaited && { awaited }),
  };
  if (problem !== undefined) {
    const recreating = recreation !== undefined && problem.cause === "leaving";
    if (!recreating) failures.push(podSpecFailure(problem));
    return { ...result, recreating };
  }
  if (made.volumes !== undefined) {
    const failure = await changeVolumes(pass, wanted, made);
    if (failure !== undefined) failures.push(failure);
    return failure === undefined ? { configRollout: false, recreating: true } : result;
  }
  if (recreation !== undefined && object !== undefined) await endRecreation(pass, recreation);
  const configRollout = action === "updated" && rollsConfig(made, object);
  if (action === "settled") notices.push(...settledNotices(pass, made));
  else if (action !== "none") notices.push(...statefulSetNotices(pass, action, made, configRollout));
  const scaled = action === "updated" && made.update?.replicasChanged === true;
  return { ...result, configRollout, ...(scaled && { scaledFrom: made.before?.spec.replicas ?? 1 }) };
}

function decide(pass: Pass, wanted: MountedConfig, live: DeepReadonly<StatefulSet>, hold: Hold): Made {
  const { resource, settings } = pass;
  const volumes = wantedVolumes(pass, wanted, live);
  if (volumes.change !== "none") return { volumes, before: live };
  const update = updatedStatefulSet(resource, settings, wanted, live);
  const awaited = update.templateChange === undefined ? 0 : hold(live);
  return { before: live, ...(awaited > 0 ? { awaited } : update.changed && { update }) };
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

/** True when an existing StatefulSet mounts another configuration than before. */
function rollsConfig({ update, before }: Made, after: DeepReadonly<StatefulSet> | undefined): boolean {
  if (update?.templateChange === undefined || before === undefined || after === undefined) return false;
  return JSON.stringify(mountedConfig(before)) !== JSON.stringify(mountedConfig(after));
}
