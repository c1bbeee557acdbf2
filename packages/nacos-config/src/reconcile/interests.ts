/** What a resource refers to, and how it is read. */
import { controllerOf, type Debounce, type DeepReadonly } from "@quartet/core";
import { postgresSecrets } from "../database/target.ts";
import { hasAdmin } from "../desired/admin.ts";
import type { ConfigObject, ContainerStatus, Pod, PodStatus, StatefulSet } from "../desired/k8s.ts";
import { DEFAULT_IDENTITY_KEYS } from "../desired/nacos-env.ts";
import { CHILD_LABELS } from "../desired/names.ts";
import type { Settings, SourceRef } from "../desired/settings.ts";
import type { FoundSource } from "../desired/source.ts";
import { type ConfigKind, configKind, POD, SECRET } from "../kinds.ts";
import type { Interest, Looked, Referred } from "./references.ts";

/** Edits of a source within so many milliseconds from the first make one rollout; other references act at once. */
export const DEBOUNCE: Debounce = { ms: 1_000, maxMs: 1_000 };

/** A pod as far as it is looked at: the rest is not kept in memory. */
export const POD_PROJECTION = {
  name: "nacos-node",
  transform(pod: Pod): Pod {
    const { apiVersion, kind, metadata, spec, status } = pod;
    const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
    const { deletionTimestamp, labels, ownerReferences } = metadata;
    const { phase, podIP, hostIP, conditions } = status ?? {};
    const ready = conditions
      ?.filter(({ type }) => type === "Ready")
      .map(({ type, status: is }) => ({ type, status: is }));
    return JSON.parse(
      JSON.stringify({
        apiVersion,
        kind,
        metadata: {
          name,
          namespace,
          uid,
          resourceVersion,
          creationTimestamp,
          deletionTimestamp,
          labels,
          ownerReferences,
        },
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

/** The sources of the configuration of a kind. */
export function sourceNames(settings: Settings, kind: ConfigKind): string[] {
  const { config } = settings;
  const sources = config.mode === "merged" ? config.sources : [];
  return sources.filter((source) => source.kind === kind).map(({ name }) => name);
}

/** Secrets that the resource names outside its configuration. */
export function secretNames({ spec }: Settings): string[] {
  const names = [spec.identitySecretRef?.name ?? "", ...postgresSecrets(spec), adminSecret(spec)];
  return [...new Set(names)].filter((name) => name !== "");
}

function adminSecret(spec: Settings["spec"]): string {
  return hasAdmin(spec) ? (spec.adminCredentialsSecretRef?.name ?? "") : "";
}

const secretInterest = (name: string): Interest<ConfigObject> => ({ kind: SECRET, reference: name });

/** Pods of an adopted StatefulSet whose labels are not those that pods are watched by. */
export function strangePods(live: DeepReadonly<StatefulSet>): Interest<Pod> | undefined {
  const selector = live.spec.selector.matchLabels ?? {};
  if (Object.entries(CHILD_LABELS).every(([label, value]) => selector[label] === value)) return undefined;
  return { kind: POD, reference: { labels: selector } };
}

/** A configuration source as it is now. */
export function findSource(referred: Referred, { kind, name }: SourceRef): FoundSource {
  return foundIn(referred.look({ kind: configKind(kind), reference: name }));
}

/** A Secret that the resource names outside its configuration, as it is now. */
export function findSecret(referred: Referred, name: string): FoundSource {
  return name === "" ? { state: "absent" } : foundIn(referred.look(secretInterest(name)));
}

function foundIn(looked: Looked<ConfigObject>): FoundSource {
  if ("unreadable" in looked) return { state: "unreadable", message: looked.unreadable };
  const [object] = looked.objects;
  return object === undefined ? { state: "absent" } : { state: "present", object };
}

/** The server identity header; `undefined` when the Secret or one of its keys is missing or unfit for a header. */
export function findIdentity(
  referred: Referred,
  { spec }: Settings,
): { name: string; value: string } | undefined {
  const { name: secret, keyKey, valueKey } = spec.identitySecretRef ?? {};
  if (!secret) return undefined;
  const data = referred.read(secretInterest(secret))?.[0]?.data;
  const read = (key: string): string =>
    Buffer.from(data?.[key] ?? "", "base64")
      .toString("utf8")
      .trim();
  const name = read(keyKey || DEFAULT_IDENTITY_KEYS.key);
  const value = read(valueKey || DEFAULT_IDENTITY_KEYS.value);
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]+$/.test(value) ? { name, value } : undefined;
}
