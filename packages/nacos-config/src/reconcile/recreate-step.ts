/** Gives a StatefulSet other claim templates without touching its pods. */
import { type DeepReadonly, isAlreadyExists, isForbidden, isInvalid } from "@quartet/core";
import { type ClaimChange, storageOf } from "../desired/claims.ts";
import type { Claim, ClaimTemplate, ConfigObject, PodTemplate, StatefulSet } from "../desired/k8s.ts";
import { recreateSecretName } from "../desired/names.ts";
import { normal, warning } from "../desired/notice.ts";
import { claimOf } from "../desired/ownership.ts";
import { compareQuantities } from "../desired/quantity.ts";
import { manifestOf, recreatedStatefulSet, recreateRecord } from "../desired/recreate.ts";
import { CLAIM, SECRET, STATEFUL_SET } from "../kinds.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { ensure } from "./ensure.ts";
import { claimFailure, podSpecRejection, stepFailure } from "./failure.ts";
import { childKey, childOptions, type Pass } from "./pass.ts";

/** In the refusal of the API server's plugin PersistentVolumeClaimResize. */
const NOT_EXPANDABLE = "must support resize";

/** A StatefulSet that was being made anew. */
export interface Recreation {
  readonly record: DeepReadonly<ConfigObject>;
  /** What is to be created. */
  readonly manifest: StatefulSet;
}

/** The recreation that is under way, by its record. */
export function recreationOf(pass: Pass): Recreation | undefined {
  const record = pass.informers.configs.Secret.get(childKey(pass, recreateSecretName(pass.settings.name)));
  if (record === undefined || claimOf(record, pass.resource).state !== "ours") return undefined;
  const manifest = manifestOf(record);
  return manifest === undefined ? undefined : { record, manifest };
}

/** Removes the record once the StatefulSet is there. */
export async function endRecreation(pass: Pass, { record }: Recreation): Promise<void> {
  const { uid } = record.metadata;
  await pass.ctx.client.deleteIfExists(SECRET, childKey(pass, record.metadata.name ?? ""), {
    signal: pass.ctx.signal,
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  });
}

/** Creates the StatefulSet again, whatever else is wrong: its pods must not stay without it. */
export async function finishRecreation(
  pass: Pass,
  recreation: Recreation,
): Promise<DeepReadonly<StatefulSet> | undefined> {
  const { name } = pass.settings;
  try {
    const options = childOptions(pass, STATEFUL_SET, pass.informers.statefulSets, name);
    const { object } = await ensure<StatefulSet, undefined>(options, (live) =>
      live === undefined
        ? { action: "create", object: recreation.manifest, result: undefined }
        : { action: "none", result: undefined },
    );
    const ours = object !== undefined && claimOf(object, pass.resource).state === "ours";
    if (ours) await endRecreation(pass, recreation);
    return ours ? object : undefined;
  } catch (error) {
    pass.failures.push(stepFailure(`StatefulSet ${name}`, error));
    return undefined;
  }
}

/** What the StatefulSet is to have. */
export interface WantedVolumes {
  readonly claims: readonly ClaimTemplate[];
  /** Another pod template than the live one, for volumes under another name. */
  readonly template?: PodTemplate;
}

/**
 * Makes sure that the server would take the StatefulSet back, enlarges the claims where that is the change, writes the
 * record, and deletes the StatefulSet alone; it is created again when the server has let go of it. The failure, if it
 * did not come to that.
 */
export async function beginRecreation(
  pass: Pass,
  live: DeepReadonly<StatefulSet>,
  change: ClaimChange,
  wanted: WantedVolumes,
): Promise<StepFailure | undefined> {
  const { client, signal } = pass.ctx;
  const name = pass.settings.name;
  const manifest = recreatedStatefulSet(live, wanted.claims);
  if (wanted.template !== undefined) manifest.spec.template = wanted.template;
  const unfit = await tryOut(pass, manifest);
  if (unfit !== undefined) return unfit;
  if (change.change === "grown") {
    const refused = await enlargeClaims(pass, live, wanted.claims);
    if (refused !== undefined) return refused;
  }
  const failure = await writeRecord(pass, manifest);
  if (failure !== undefined) return failure;
  try {
    const { uid, resourceVersion } = live.metadata;
    await client.delete(STATEFUL_SET, childKey(pass, name), {
      signal,
      propagationPolicy: "Orphan",
      preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    });
  } catch (error) {
    return stepFailure(`StatefulSet ${name}`, error);
  }
  pass.notices.push(
    change.change === "grown"
      ? normal("VolumeResized", `claims grow from ${change.from} to ${change.to}; the pods keep running`)
      : warning(
          "VolumeRecreated",
          "the StatefulSet gets other volumes; data in the former ones is not moved",
        ),
  );
  return undefined;
}

/**
 * Has the server look at the manifest while the StatefulSet still exists: one that it would refuse later would leave
 * the pods alone for good. That the name is taken is found out last, so it means that all is well.
 */
async function tryOut({ ctx }: Pass, manifest: StatefulSet): Promise<StepFailure | undefined> {
  // A plan would show it as a change.
  if (ctx.dryRun === true) return undefined;
  try {
    await ctx.client.create(STATEFUL_SET, manifest, { signal: ctx.signal, dryRun: true });
    return undefined;
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    return podSpecRejection(`StatefulSet ${manifest.metadata.name}`, error);
  }
}

async function writeRecord(pass: Pass, manifest: StatefulSet): Promise<StepFailure | undefined> {
  const record = recreateRecord(pass.resource, manifest);
  const subject = `Secret ${record.metadata.name}`;
  try {
    const options = childOptions(pass, SECRET, pass.informers.configs.Secret, record.metadata.name!);
    const { result } = await ensure<ConfigObject, StepFailure | undefined>(options, (found) => {
      if (found === undefined) return { action: "create", object: record, result: undefined };
      const refused = claimFailure(subject, claimOf(found, pass.resource));
      if (refused !== undefined) return { action: "none", result: refused };
      const object = { ...(found as ConfigObject), data: record.data! };
      return { action: "update", object, result: undefined };
    });
    return result;
  } catch (error) {
    return stepFailure(subject, error);
  }
}

/** Raises the request of every existing claim; what is refused is told, and then nothing else is done. */
async function enlargeClaims(
  pass: Pass,
  live: DeepReadonly<StatefulSet>,
  claims: readonly ClaimTemplate[],
): Promise<StepFailure | undefined> {
  const { client, signal } = pass.ctx;
  const { namespace, name } = pass.settings;
  const labelSelector = Object.entries(live.spec.selector.matchLabels ?? {})
    .map(([label, value]) => `${label}=${value}`)
    .join(",");
  try {
    const { items } = await client.list(CLAIM, { namespace, labelSelector, signal });
    for (const template of claims) {
      const storage = storageOf(template);
      const ours = new RegExp(`^${template.metadata.name}-${name}-\\d+$`);
      for (const claim of items.filter((item) => ours.test(item.metadata.name ?? ""))) {
        if (!isSmaller(claim, storage)) continue;
        const body = { spec: { resources: { requests: { storage } } } };
        const key = { namespace, name: claim.metadata.name! };
        await client.patch(CLAIM, key, { type: "merge", body }, { signal });
      }
    }
    return undefined;
  } catch (error) {
    const failure = stepFailure("PersistentVolumeClaim", error);
    const message = resizeRefusal(error);
    if (message === undefined) return failure;
    return { code: EVENT_CODES.badParameter, reason: "VolumeResizeRefused", message };
  }
}

/** Why the server keeps a claim from growing; `undefined` for what has nothing to do with the size. */
function resizeRefusal(error: unknown): string | undefined {
  // Missing rights and quotas answer by the same code.
  if (isForbidden(error) && error.message.includes(NOT_EXPANDABLE)) {
    return "the storage class does not let claims grow; set the size back, or use another class";
  }
  if (!isInvalid(error)) return undefined;
  return "a claim cannot grow before it is bound to a volume; that is waited for, see its events, or set the size back";
}

function isSmaller(claim: Claim, storage: unknown): boolean {
  return (compareQuantities(storageOf(claim), storage) ?? 0) < 0;
}
