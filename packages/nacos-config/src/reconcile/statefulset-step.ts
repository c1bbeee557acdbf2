/** Creates, adopts and updates the StatefulSet. */
import { type DeepReadonly, sameJson } from "@quartet/core";
import { STATEFUL_SET, type StatefulSet } from "@quartet/core/kinds";
import { StrategicMergeError } from "@quartet/strategic-merge";
import { claimChange, type VolumeChange } from "../desired/claims.ts";
import { type Notice, normal, warning } from "../desired/notice.ts";
import { allowsRecreate } from "../desired/recreate.ts";
import { knownRevision, LATEST_REVISION } from "../desired/revision.ts";
import { isForcedAdoption } from "../desired/settings.ts";
import {
  newStatefulSet,
  requestedRevision,
  revisionOf,
  type StatefulSetUpdate,
  updatedStatefulSet,
  wantedTemplate,
} from "../desired/statefulset.ts";
import { podTemplate } from "../desired/template.ts";
import { claimTemplates, type MountedConfig, mountedConfig } from "../desired/volumes.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { podSpecFailure } from "./failure.ts";
import type { Pass } from "./pass.ts";
import { beginRecreation, endRecreation, recreationOf } from "./recreate-step.ts";
import { podsOf } from "./references.ts";
import { podsToAwait } from "./rollout-hold.ts";

/** What is to be done about a StatefulSet that exists: at most one of these. */
interface Decision {
  /** It cannot have the volumes that are wanted unless it is made anew. */
  readonly volumes?: VolumeChange;
  /** The update waits for so many ready pods to become available. */
  readonly awaited?: number;
  readonly update?: StatefulSetUpdate;
}

/** Brings the StatefulSet to what is wanted; ours after the pass, `undefined` when there is none. */
export async function statefulSetStep(
  pass: Pass,
  wanted: MountedConfig,
): Promise<DeepReadonly<StatefulSet> | undefined> {
  try {
    return await ensureStatefulSet(pass, wanted);
  } catch (error) {
    if (!(error instanceof StrategicMergeError)) throw error;
    const { children, settings, failures } = pass;
    const message = `StatefulSet ${settings.name}: a list of the pod has an element without the field that tells it apart`;
    failures.push(podSpecFailure({ cause: "invalid", reason: "Invalid", message }));
    return children.read(STATEFUL_SET, settings.name);
  }
}

async function ensureStatefulSet(
  pass: Pass,
  wanted: MountedConfig,
): Promise<DeepReadonly<StatefulSet> | undefined> {
  const { resource, settings, children, failures, notices } = pass;
  const recreation = recreationOf(pass);
  let decision: Decision = {};
  const { before, object, action, problem } = await children.ensure<StatefulSet>(
    { kind: STATEFUL_SET, name: settings.name, force: isForcedAdoption(resource) },
    {
      create() {
        decision = {};
        return recreation?.manifest ?? newStatefulSet(settings, wanted);
      },
      update(live) {
        decision = decide(pass, wanted, live);
        return decision.update?.object ?? live;
      },
    },
  );
  const { volumes, awaited, update } = decision;
  if (awaited !== undefined) pass.awaited = awaited;
  if (problem !== undefined) {
    pass.recreating = recreation !== undefined && problem.cause === "leaving";
    if (!pass.recreating) failures.push(podSpecFailure(problem));
    return object;
  }
  if (volumes !== undefined && before !== undefined) {
    const failure = await changeVolumes(pass, wanted, before, volumes);
    pass.recreating = failure === undefined;
    if (failure === undefined) return undefined;
    failures.push(failure);
    return object;
  }
  if (recreation !== undefined && object !== undefined) await endRecreation(pass, recreation);
  if (action === "created") notices.push(normal("Created", `StatefulSet ${settings.name} created`));
  if (update === undefined || before === undefined || object === undefined) return object;
  if (action === "settled") notices.push(...settledNotices(pass, update));
  if (action === "updated") noteUpdate(pass, update, before, object);
  return object;
}

function decide(pass: Pass, wanted: MountedConfig, live: DeepReadonly<StatefulSet>): Decision {
  const { resource, settings } = pass;
  const revision = requestedRevision(resource) ?? knownRevision(revisionOf(live)) ?? LATEST_REVISION;
  const template = podTemplate(settings, wanted, revision);
  const volumes = claimChange({ template, claims: claimTemplates(settings.spec) }, live);
  if (volumes.change !== "none") return { volumes };
  const update = updatedStatefulSet(settings, wanted, live);
  const awaited = update.templateChange === undefined ? 0 : podsToAwait(pass, live, podsOf(pass, live));
  return awaited > 0 ? { awaited } : { update };
}

/** Makes the StatefulSet anew for other volumes where that is safe or allowed; else tells why not. */
async function changeVolumes(
  pass: Pass,
  wanted: MountedConfig,
  live: DeepReadonly<StatefulSet>,
  volumes: VolumeChange,
): Promise<StepFailure | undefined> {
  const { resource, settings } = pass;
  if (volumes.change === "grown") return beginRecreation(pass, live, volumes);
  const code = EVENT_CODES.badParameter;
  const sizes = `from ${volumes.from} to ${volumes.to}`;
  if (volumes.change === "shrunk") {
    const message = `spec.volume: storage cannot shrink ${sizes}; set it back`;
    return { code, reason: "VolumeShrinkRefused", message };
  }
  if (allowsRecreate(resource)) {
    return beginRecreation(pass, live, volumes, wantedTemplate(settings, wanted, live));
  }
  const message = `spec.volume: the ${volumes.what} cannot change ${sizes} on an existing StatefulSet; set it back`;
  return { code, reason: "VolumeChangeUnsupported", message };
}

/** Tells what an update does to the pods, and remembers from how many nodes it scales. */
function noteUpdate(
  { settings, notices, memory, metrics }: Pass,
  update: StatefulSetUpdate,
  before: DeepReadonly<StatefulSet>,
  after: DeepReadonly<StatefulSet>,
): void {
  const { templateChange } = update;
  if (update.drift) {
    const note = `StatefulSet ${settings.name} was edited by hand at ${templateChange}; it is put back`;
    notices.push(warning("StatefulSetDriftRepaired", note));
  }
  if (templateChange !== undefined && !sameJson(mountedConfig(before), mountedConfig(after))) {
    metrics.rollout();
    notices.push(normal("ConfigRollout", "the configuration has changed; the pods are replaced one by one"));
  }
  if (update.replicasChanged) {
    const from = before.spec.replicas ?? 1;
    const rolls =
      settings.type === "cluster" ? "; the member list changes, so every pod is replaced once" : "";
    notices.push(normal("Scaling", `from ${from} to ${settings.replicas} nodes${rolls}`));
    memory.scaledFrom = from;
  }
}

/** What the server leaves as it is, although something else is asked for: most often a misspelt field. */
function settledNotices({ settings }: Pass, { templateChange }: StatefulSetUpdate): Notice[] {
  if (templateChange === undefined) return [];
  const note = `StatefulSet ${settings.name}: the API server takes ${templateChange} not as it is asked for; check the name and the form of the field`;
  return [warning("PodFieldIgnored", note)];
}
