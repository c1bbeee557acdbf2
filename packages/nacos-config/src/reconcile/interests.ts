/** What a resource refers to, and how it is read. */
import { controllerOf, type DeepReadonly } from "@quartet/core";
import { postgresSecrets } from "../database/target.ts";
import { hasAdmin } from "../desired/admin.ts";
import type { ConfigObject, ContainerStatus, Pod, PodStatus, StatefulSet } from "../desired/k8s.ts";
import { DEFAULT_IDENTITY_KEYS } from "../desired/nacos-env.ts";
import { CHILD_LABELS } from "../desired/names.ts";
import type { Settings, SourceRef } from "../desired/settings.ts";
import type { FoundSource } from "../desired/source.ts";
import { configKind, POD, SECRET } from "../kinds.ts";
import { type Interest, interestIn, type WatchSet } from "./watch-set.ts";

/** Time in which edits of a source make one rollout, in milliseconds. */
export const DEBOUNCE_MS = 1_000;
/** Other references are acted on at once. */
const AT_ONCE_MS = 0;

/** A pod as far as it is looked at: the rest is not kept in memory. */
export const POD_PROJECTION = {
  name: "nacos-node",
  transform(pod: Pod): Pod {
    const { apiVersion, kind, metadata, spec, status } = pod;
    const { name, namespace, uid, resourceVersion, deletionTimestamp, labels, ownerReferences } = metadata;
    const { phase, podIP, hostIP, conditions } = status ?? {};
    const ready = conditions
      ?.filter(({ type }) => type === "Ready")
      .map(({ type, status: is }) => ({ type, status: is }));
    return JSON.parse(
      JSON.stringify({
        apiVersion,
        kind,
        metadata: { name, namespace, uid, resourceVersion, deletionTimestamp, labels, ownerReferences },
        spec: {
          nodeName: spec?.nodeName,
          volumes: spec?.volumes?.filter((v) => "configMap" in v || "secret" in v),
        },
        status: { phase, podIP, hostIP, conditions: ready, ...endsOf(pod) },
      }),
    ) as Pod;
  },
};

/** Of a Job's pod, how its containers ended. */
function endsOf({ metadata, status }: Pod): PodStatus {
  if (controllerOf({ metadata })?.kind !== "Job") return {};
  const ends = (statuses: readonly ContainerStatus[] = []): ContainerStatus[] =>
    statuses.flatMap(({ name, state }) => {
      if (state?.terminated === undefined) return [];
      const { exitCode, reason, finishedAt } = state.terminated;
      return [
        {
          name,
          state: { terminated: { exitCode, ...(reason && { reason }), ...(finishedAt && { finishedAt }) } },
        },
      ];
    });
  return {
    initContainerStatuses: ends(status?.initContainerStatuses),
    containerStatuses: ends(status?.containerStatuses),
  };
}

/** Everything that the resource refers to. */
export function interestsOf(settings: Settings, live: DeepReadonly<StatefulSet> | undefined): Interest[] {
  const { config, namespace, spec } = settings;
  const sources = config.mode === "merged" ? config.sources : [];
  const identity = spec.identitySecretRef?.name;
  const interests: Interest[] = sources.map((ref) => sourceInterest(namespace, ref) as unknown as Interest);
  for (const name of new Set([identity ?? "", ...postgresSecrets(spec), adminSecret(spec)])) {
    if (name !== "") interests.push(secretInterest(namespace, name) as unknown as Interest);
  }
  const strangers = live && strangePods(live);
  if (strangers) interests.push(strangers as unknown as Interest);
  return interests;
}

function sourceInterest(namespace: string, { kind, name }: SourceRef): Interest<ConfigObject> {
  return interestIn(configKind(kind), { namespace, name }, DEBOUNCE_MS);
}

function adminSecret(spec: Settings["spec"]): string {
  return hasAdmin(spec) ? (spec.adminCredentialsSecretRef?.name ?? "") : "";
}

function secretInterest(namespace: string, name: string): Interest<ConfigObject> {
  return interestIn(SECRET, { namespace, name }, AT_ONCE_MS);
}

/** Pods of an adopted StatefulSet whose labels are not those that pods are watched by. */
export function strangePods(live: DeepReadonly<StatefulSet>): Interest<Pod> | undefined {
  const selector = live.spec.selector.matchLabels ?? {};
  if (Object.entries(CHILD_LABELS).every(([label, value]) => selector[label] === value)) return undefined;
  return {
    kind: POD,
    delayMs: AT_ONCE_MS,
    options: {
      namespaces: [live.metadata.namespace ?? ""],
      labelSelector: Object.entries(selector)
        .map(([label, value]) => `${label}=${value}`)
        .join(","),
      projection: POD_PROJECTION,
    },
  };
}

/** A configuration source as it is now. */
export function findSource(watches: WatchSet, namespace: string, ref: SourceRef): FoundSource {
  return foundIn(watches.read(sourceInterest(namespace, ref)));
}

/** A Secret that the resource names outside its configuration, as it is now. */
export function findSecret(watches: WatchSet, namespace: string, name: string): FoundSource {
  return foundIn(watches.read(secretInterest(namespace, name)));
}

function foundIn(objects: readonly DeepReadonly<ConfigObject>[] | undefined): FoundSource {
  if (objects === undefined)
    return { state: "unreadable", message: "it has not been received from the API server" };
  const [object] = objects;
  return object === undefined ? { state: "absent" } : { state: "present", object };
}

/** The server identity header; `undefined` when the Secret or one of its keys is missing or unfit for a header. */
export function findIdentity(
  watches: WatchSet,
  { namespace, spec }: Settings,
): { name: string; value: string } | undefined {
  const { name: secret, keyKey, valueKey } = spec.identitySecretRef ?? {};
  if (!secret) return undefined;
  const data = watches.read(secretInterest(namespace, secret))?.[0]?.data;
  const read = (key: string): string =>
    Buffer.from(data?.[key] ?? "", "base64")
      .toString("utf8")
      .trim();
  const name = read(keyKey || DEFAULT_IDENTITY_KEYS.key);
  const value = read(valueKey || DEFAULT_IDENTITY_KEYS.value);
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]+$/.test(value) ? { name, value } : undefined;
}
