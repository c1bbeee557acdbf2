/** Pods of a case: what is there, and what came and went meanwhile. */
import { controllerOf } from "@quartet/core";
import type { Pod } from "@quartet/core/kinds";
import type { TestClient } from "@quartet/testing";
import type { Json } from "@quartet/testing/replay";
import { REVISION_LABEL } from "../../src/desired/keys.ts";
import { pinnedNode } from "../../src/desired/pod.ts";

interface WatchEvent {
  readonly type: string;
  readonly object: Pod & { metadata: { uid: string } };
}

/** A pod that was seen. */
interface Seen {
  readonly node: string;
  readonly revision: string;
  readonly gone: boolean;
}

export interface PodWatch {
  /** Pods by uid, those that are gone or going included. */
  seen(): ReadonlyMap<string, Seen>;
  stop(): void;
}

export const nodeOf = (pod: Pod): string => pinnedNode(pod.spec) ?? "-";
export const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[REVISION_LABEL] ?? "-";
export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

/** Follows the pods of a namespace that has none yet. */
export function watchPods(client: TestClient, namespace: string): PodWatch {
  const abort = new AbortController();
  const pods = new Map<string, Seen>();
  const follow = async (): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace}/pods?watch=true`;
    for await (const { type, object } of client.stream<WatchEvent>(path, abort.signal)) {
      const { uid, deletionTimestamp } = object.metadata;
      const gone = type === "DELETED" || deletionTimestamp !== undefined || pods.get(uid)?.gone === true;
      pods.set(uid, { node: nodeOf(object), revision: revisionOf(object), gone });
    }
  };
  follow().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  return { seen: () => new Map(pods), stop: () => abort.abort() };
}

/** What a step did, by the pods seen before and after it; node names sorted. */
export function changesOf(
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
): { created: string[]; deleted: string[]; inPlace: string[] } {
  const nodes = (isOne: (pod: Seen, old: Seen | undefined) => boolean): string[] =>
    [...after].flatMap(([uid, pod]) => (isOne(pod, before.get(uid)) ? [pod.node] : [])).sort();
  return {
    created: nodes((_, old) => old === undefined),
    deleted: nodes((pod, old) => pod.gone && old?.gone !== true),
    inPlace: nodes((pod, old) => old !== undefined && !pod.gone && old.revision !== pod.revision),
  };
}

/** A pod in the words of the file. */
export function describePod(pod: Pod, revision: string, withImages: boolean): Json {
  const { metadata, spec, status } = pod;
  const lifecycle = metadata.labels?.["lifecycle.apps.kruise.io/state"];
  const phase = status?.phase;
  return {
    rev: revision,
    ready: isReady(pod),
    ...(lifecycle !== undefined && lifecycle !== "Normal" && { lifecycleState: lifecycle }),
    ...((phase === "Failed" || phase === "Succeeded") && { phase }),
    ...(withImages && {
      images: (spec as { containers: { image: string }[] }).containers.map(({ image }) => image),
    }),
    ...(controllerOf(pod) === undefined && { orphan: true }),
    ...(metadata.deletionTimestamp !== undefined && { terminating: true }),
    ...(!spec?.nodeName && { unscheduled: true }),
  };
}

/** Key of a pod in `podCounts`. */
export function countKey({ rev, ready, lifecycleState, phase }: Json): string {
  return [rev, ready ? "ready" : "notReady", lifecycleState, phase]
    .filter((part) => part !== undefined)
    .join("/");
}
