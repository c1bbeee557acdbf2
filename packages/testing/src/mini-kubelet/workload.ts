/** What the workload controllers share. */
import { createHash, randomInt } from "node:crypto";
import type { Cluster } from "./cluster.ts";
import type { Informer } from "./informer.ts";
import {
  type Base,
  controllerOf,
  matchesSelector,
  type OwnerReference,
  type Pod,
  type PodTemplate,
  type Selector,
} from "./objects.ts";
import type { Worker } from "./worker.ts";

const HASH_LENGTH = 10;
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const MERGE = { contentType: "application/merge-patch+json" };

/** The same for the same template, whatever the order of its keys. */
export function templateHash(template: PodTemplate): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, entry]) => [key, sorted(entry)]),
    );
  };
  return createHash("sha256")
    .update(JSON.stringify(sorted(template)))
    .digest("hex")
    .slice(0, HASH_LENGTH);
}

export function randomSuffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]).join(
    "",
  );
}

/** A pod of a template. */
export function podOf(
  template: PodTemplate,
  name: string,
  labels: Record<string, string>,
  owner: OwnerReference,
): Pod {
  const { metadata = {}, spec } = template;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name, labels: { ...metadata.labels, ...labels }, ownerReferences: [owner] },
    spec: structuredClone(spec),
  } as unknown as Pod;
}

/** Pods that an object controls. */
export function podsOf(cluster: Cluster, owner: Base): Pod[] {
  return cluster.pods
    .all()
    .filter(
      (pod) =>
        pod.metadata.namespace === owner.metadata.namespace && controllerOf(pod)?.uid === owner.metadata.uid,
    );
}

/** Takes pods that match the selector and belong to nobody. */
export async function adopt(
  cluster: Cluster,
  owner: Base & { spec: { selector: Selector } },
  reference: OwnerReference,
  accepts: (pod: Pod) => boolean = () => true,
): Promise<void> {
  for (const pod of cluster.pods.all()) {
    const { metadata } = pod;
    if (metadata.namespace !== owner.metadata.namespace || metadata.deletionTimestamp !== undefined) continue;
    if (
      controllerOf(pod) !== undefined ||
      !matchesSelector(owner.spec.selector, metadata.labels) ||
      !accepts(pod)
    )
      continue;
    const ownerReferences = [...(metadata.ownerReferences ?? []), reference];
    const patch = {
      metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, ownerReferences },
    };
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    cluster.pods.note(await cluster.client.ok<Pod>("PATCH", path, patch, MERGE));
  }
}

/** Looks at an owner when it changes, and when a pod changes that it owns or could adopt. */
export function watchOwner<T extends Base & { spec: { selector?: Selector } }>(
  cluster: Cluster,
  owners: Informer<T>,
  kind: string,
  worker: Worker,
): void {
  const keyOf = ({ metadata }: Base): string => `${metadata.namespace}/${metadata.name}`;
  owners.onChange((owner) => worker.add(keyOf(owner)));
  cluster.pods.onChange((pod) => {
    const owner = controllerOf(pod);
    if (owner?.kind === kind) worker.add(`${pod.metadata.namespace}/${owner.name}`);
    if (owner !== undefined) return;
    for (const candidate of owners.all()) {
      const { selector } = candidate.spec;
      if (candidate.metadata.namespace !== pod.metadata.namespace || selector === undefined) continue;
      if (matchesSelector(selector, pod.metadata.labels)) worker.add(keyOf(candidate));
    }
  });
}
