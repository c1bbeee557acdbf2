/** Gives a StatefulSet other claim templates without touching its pods. */
import { type DeepReadonly, isForbidden, isInvalid, isProblem, type Problem, sameJson } from "@quartet/core";
import {
  type Claim,
  type ClaimTemplate,
  CONTROLLER_REVISION,
  PERSISTENT_VOLUME_CLAIM,
  type PodTemplate,
  STATEFUL_SET,
  type StatefulSet,
} from "@quartet/core/kinds";
import { compareQuantities } from "@quartet/pod-template";
import { storageOf, type VolumeChange } from "../desired/claims.ts";
import { recreateRecordName } from "../desired/names.ts";
import { normal, warning } from "../desired/notice.ts";
import { type RecreateRecord, recordedStatefulSet, recreateRecord } from "../desired/recreate.ts";
import { selectorText } from "../desired/selector.ts";
import { claimTemplates } from "../desired/volumes.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { failureOf, podSpecFailure } from "./failure.ts";
import type { Pass } from "./pass.ts";

/** In the refusal of the API server's plugin PersistentVolumeClaimResize. */
const NOT_EXPANDABLE = "must support resize";
const RESIZE_REFUSED = "VolumeResizeRefused";

/** A StatefulSet that was being made anew. */
export interface Recreation {
  readonly record: DeepReadonly<RecreateRecord>;
  /** What is to be created. */
  readonly manifest: StatefulSet;
}

/** The recreation that is under way, by its record. */
export function recreationOf({ children, resource, settings }: Pass): Recreation | undefined {
  const record = children.read(CONTROLLER_REVISION, recreateRecordName(settings.name));
  if (record === undefined || children.claim(record).state !== "ours") return undefined;
  const manifest = recordedStatefulSet(resource, record);
  return manifest === undefined ? undefined : { record, manifest };
}

/** Removes the record once the StatefulSet is there. */
export async function endRecreation({ children, failures }: Pass, { record }: Recreation): Promise<void> {
  const problem = await children.remove(CONTROLLER_REVISION, record);
  if (problem !== undefined) failures.push(failureOf(problem));
}

/** Creates the StatefulSet again, whatever else is wrong: its pods must not stay without it. */
export async function finishRecreation(
  pass: Pass,
  recreation: Recreation,
): Promise<DeepReadonly<StatefulSet> | undefined> {
  const { children, failures, settings } = pass;
  const { object, problem } = await children.ensure(
    { kind: STATEFUL_SET, name: settings.name },
    { create: () => recreation.manifest, update: (live) => live },
  );
  if (problem !== undefined) failures.push(failureOf(problem));
  if (object === undefined || children.claim(object).state !== "ours") return undefined;
  await endRecreation(pass, recreation);
  return object;
}

/**
 * Makes sure that the server would take the StatefulSet back, enlarges the claims where that is the change, writes the
 * record, and deletes the StatefulSet alone; it is created again when the server has let go of it. What is refused at
 * any step is tried again, from the first, at growing intervals. The failure, if it did not come to the deletion.
 * @param template another one than the live one where volumes get another name
 */
export async function beginRecreation(
  pass: Pass,
  live: DeepReadonly<StatefulSet>,
  change: VolumeChange,
  template: DeepReadonly<PodTemplate> = live.spec.template,
): Promise<StepFailure | undefined> {
  const { children, resource, settings } = pass;
  const claims = claimTemplates(settings.spec);
  const record = recreateRecord(resource, live, claims, template);
  const manifest = recordedStatefulSet(resource, record)!;
  const attempt = {
    id: `recreate ${STATEFUL_SET.plural}/${settings.name}`,
    subject: `StatefulSet ${settings.name}`,
    wanted: [live.metadata.uid, record],
  };
  const result = await children.attempt(attempt, async () => {
    return (
      (await children.tryOut(STATEFUL_SET, manifest)) ??
      (change.change === "grown" ? await enlargeClaims(pass, live, claims) : undefined) ??
      (await writeRecord(pass, record)) ??
      (await children.remove(STATEFUL_SET, live, { propagationPolicy: "Orphan", exactVersion: true }))
    );
  });
  if (isProblem(result)) {
    if (result.reason === RESIZE_REFUSED) return failureOf(result, { code: EVENT_CODES.badParameter });
    return podSpecFailure(result);
  }
  const resized = `claims grow from ${change.from} to ${change.to}; the pods keep running`;
  const replaced = "the StatefulSet gets other volumes; data in the former ones is not moved";
  pass.notices.push(
    change.change === "grown" ? normal("VolumeResized", resized) : warning("VolumeRecreated", replaced),
  );
  return undefined;
}

/** The data of a ControllerRevision cannot change: another one is made in its place. */
async function writeRecord({ children }: Pass, record: RecreateRecord): Promise<Problem | undefined> {
  const { problem } = await children.ensure<RecreateRecord>(
    { kind: CONTROLLER_REVISION, name: record.metadata.name ?? "" },
    {
      create: () => record,
      update: (live) => (sameJson(live.data, record.data) ? live : record),
      replaces: () => true,
    },
  );
  return problem;
}

/** Raises the request of every existing claim; what is refused is told, and then nothing else is done. */
async function enlargeClaims(
  { ctx: { client, signal }, children, settings: { namespace, name } }: Pass,
  live: DeepReadonly<StatefulSet>,
  claims: readonly ClaimTemplate[],
): Promise<Problem | undefined> {
  const labelSelector = selectorText({ matchLabels: live.spec.selector.matchLabels ?? {} });
  const { items } = await client.list(PERSISTENT_VOLUME_CLAIM, { namespace, labelSelector, signal });
  for (const template of claims) {
    const storage = storageOf(template);
    const prefix = `${template.metadata.name}-${name}-`;
    for (const claim of items) {
      const claimName = claim.metadata.name ?? "";
      const ours = claimName.startsWith(prefix) && /^\d+$/.test(claimName.slice(prefix.length));
      if (!ours || !isSmaller(claim, storage)) continue;
      const subject = `PersistentVolumeClaim ${claimName}`;
      const attempt = {
        id: `patch ${PERSISTENT_VOLUME_CLAIM.plural}/${claimName}`,
        subject,
        wanted: storage,
      };
      const patch = { type: "merge" as const, body: { spec: { resources: { requests: { storage } } } } };
      const result = await children.attempt(attempt, async () => {
        try {
          return await client.patch(PERSISTENT_VOLUME_CLAIM, { namespace, name: claimName }, patch, {
            signal,
          });
        } catch (error) {
          const message = resizeRefusal(error);
          if (message === undefined) throw error;
          return { cause: "refused" as const, reason: RESIZE_REFUSED, message };
        }
      });
      if (isProblem(result)) return result;
    }
  }
  return undefined;
}

/** Why the server keeps a claim from growing; `undefined` for what has nothing to do with the size. */
function resizeRefusal(error: unknown): string | undefined {
  // Missing rights and quotas answer by the same code.
  if (isForbidden(error) && error.message.includes(NOT_EXPANDABLE)) {
    return "the storage class does not let claims grow; set the size back, or use another class";
  }
  // So do admission policies, which name no field.
  if (!isInvalid(error) || !error.details.causes.some(({ field }) => field !== undefined)) return undefined;
  return "a claim cannot grow before it is bound to a volume; that is waited for, see its events, or set the size back";
}

function isSmaller(claim: Claim, storage: unknown): boolean {
  return (compareQuantities(storageOf(claim), storage) ?? 0) < 0;
}
