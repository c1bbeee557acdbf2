/** What is watched for a resource: the objects that it refers to, and what of pods is kept. */
import { controllerOf, type Debounce, type DeepReadonly, type Reference } from "@quartet/core";
import type { ContainerStatus, Pod, StatefulSet } from "@quartet/core/kinds";
import { postgresSecrets } from "../database/target.ts";
import { hasAdmin } from "../desired/admin.ts";
import { CHILD_LABELS } from "../desired/names.ts";
import type { Settings } from "../desired/settings.ts";
import type { ConfigKind } from "../kinds.ts";

/** Edits of a source within so many milliseconds from the first make one rollout; other references act at once. */
export const DEBOUNCE: Debounce = { ms: 1_000, maxMs: 1_000 };

/** A pod as far as it is looked at: the rest is not kept in memory. */
export const POD_PROJECTION = {
  name: "nacos-node",
  transform(pod: Pod): Pod {
    const { apiVersion, kind, metadata, spec, status } = pod;
    const { managedFields: _managed, annotations: _annotations, ...kept } = metadata;
    const { phase, podIP, hostIP, conditions } = status ?? {};
    const ready = conditions
      ?.filter(({ type }) => type === "Ready")
      .map(({ type, status: is }) => ({ type, status: is }));
    return JSON.parse(
      JSON.stringify({
        apiVersion,
        kind,
        metadata: kept,
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
function endsOf({ metadata, status }: Pod): object {
  if (controllerOf({ metadata })?.kind !== "Job") return {};
  const ends = (statuses: readonly ContainerStatus[] = []): object[] =>
    statuses.flatMap(({ name, state }) => {
      if (state?.terminated === undefined) return [];
      const { exitCode, reason, finishedAt } = state.terminated;
      return [{ name, state: { terminated: { exitCode, reason, finishedAt } } }];
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

/** Pods of an adopted StatefulSet whose labels are not those that pods are watched by. */
export function strangePods(live: DeepReadonly<StatefulSet>): Reference | undefined {
  const selector = live.spec.selector.matchLabels ?? {};
  if (Object.entries(CHILD_LABELS).every(([label, value]) => selector[label] === value)) return undefined;
  return { labels: selector };
}
