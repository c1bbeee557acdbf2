/** Looks at StatefulSet, pods and nodes when all is written. */
import type { Clock, Condition, DeepReadonly } from "@quartet/core";
import type { Violation } from "../admission/violation.ts";
import type { Pod, StatefulSet } from "../desired/k8s.ts";
import { FINAL_CONFIG_KEY } from "../desired/names.ts";
import { parseProperties } from "../desired/properties.ts";
import type { NacosResource } from "../desired/settings.ts";
import { mountedConfig } from "../desired/volumes.ts";
import { nodesOf } from "../health/node-facts.ts";
import type { ConfigReport, Outcome } from "../status/outcome.ts";
import type { ConfigResult } from "./config-step.ts";
import { type HealthTools, healthStep } from "./health-step.ts";
import { strangePods } from "./interests.ts";
import { memoryView, noteHealth, noteRollout, type ResourceMemory } from "./memory.ts";
import type { ConfigMetrics } from "./metrics.ts";
import type { Pass } from "./pass.ts";
import type { Referred } from "./references.ts";
import { workloadReport } from "./workload.ts";

/** Pods that carry the labels of the resource's own. */
export function podsOf(
  { informers, settings }: Pass,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
  referred: Referred,
): readonly DeepReadonly<Pod>[] {
  if (statefulSet === undefined) return [];
  const strangers = strangePods(statefulSet);
  if (strangers !== undefined) return referred.read(strangers) ?? [];
  return informers.pods.list({ namespace: settings.namespace, labels: { app: settings.name } });
}

/** What an observation needs beside the pass. */
export interface ObserveOptions extends HealthTools {
  readonly metrics: ConfigMetrics;
  readonly clock: Clock;
}

/** What is known before the nodes are looked at. */
export interface Given {
  readonly violations: readonly Violation[];
  readonly paused: boolean;
  readonly recreating: boolean;
  readonly awaited?: number;
}

/** What there is after the writes; `undefined` while the nodes take their time to answer. */
export async function observe(
  run: Pass,
  config: ConfigResult,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
  given: Given,
  memory: ResourceMemory,
  options: ObserveOptions,
): Promise<Outcome | undefined> {
  const { clock, referred, metrics } = options;
  const { settings } = run;
  metrics.merged(run, config);
  const base = {
    replicas: settings.replicas,
    standalone: settings.type === "standalone",
    ...given,
    config: configReport(run, config, statefulSet),
    failures: run.failures,
    reports: run.reports,
    stepStatus: run.stepStatus,
  };
  if (statefulSet === undefined) return { ...base, now: clock.now(), memory: memoryView(memory) };
  const nodes = nodesOf(statefulSet, podsOf(run, statefulSet, referred));
  const known = memory.firstPass ? (memory.scaledFrom ?? scaledFromOf(run.resource)) : memory.scaledFrom;
  if (known !== undefined) memory.scaledFrom = known;
  delete memory.firstPass;
  const workload = workloadReport(statefulSet, nodes, memory.scaledFrom);
  if (!workload.scaling && !workload.rolling) delete memory.scaledFrom;
  noteRollout(
    memory,
    workload.rolling,
    statefulSet.status?.updateRevision,
    clock.now(),
    rolloutSince(run.resource, podsOf(run, statefulSet, referred)),
  );
  const properties = config.ready?.effective ?? propertiesInForce(run, statefulSet);
  const health = await healthStep(run, options, memory, statefulSet, nodes, properties);
  if (health === "pending") return undefined;
  if (health !== undefined) noteHealth(memory, health, clock.now());
  return {
    ...base,
    now: clock.now(),
    workload,
    ...(health === undefined ? {} : { health }),
    memory: memoryView(memory),
  };
}

/** Properties of the generated object that the pods mount, while its sources cannot be used. */
function propertiesInForce(
  { informers, settings }: Pass,
  statefulSet: DeepReadonly<StatefulSet>,
): ReadonlyMap<string, string> {
  const mounted = mountedConfig(statefulSet);
  if (mounted.mode !== "merged") return new Map();
  const { data } =
    informers.configs[mounted.kind].get({ namespace: settings.namespace, name: mounted.name }) ?? {};
  const value = data?.[FINAL_CONFIG_KEY] ?? "";
  try {
    return parseProperties(mounted.kind === "Secret" ? Buffer.from(value, "base64").toString("utf8") : value);
  } catch {
    // Somebody edited it; the defaults of Nacos are the best guess.
    return new Map();
  }
}

/**
 * Begin of a rollout that an earlier process told of, in milliseconds since the Unix epoch. The condition's time may be
 * that of an earlier movement; a rollout that has made a pod since then was not stalled until then.
 */
export function rolloutSince(
  resource: NacosResource,
  pods: readonly DeepReadonly<Pod>[],
): number | undefined {
  const progressing = progressingOf(resource);
  if (progressing?.reason !== "RollingUpdate") return undefined;
  const created = pods.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") || 0);
  return Math.max(Date.parse(progressing.lastTransitionTime), ...created);
}

/** Number of nodes before a change of it that an earlier process has begun. */
export function scaledFromOf(resource: NacosResource): number | undefined {
  const progressing = progressingOf(resource);
  if (progressing?.reason !== "Scaling") return undefined;
  const from = /, from (\d{1,9})(?:;|$)/.exec(progressing.message)?.[1];
  return from === undefined ? undefined : Number(from);
}

function progressingOf({ status }: NacosResource): DeepReadonly<Condition> | undefined {
  return status?.operatorConditions?.find(({ type }) => type === "Progressing");
}

function configReport(
  { settings }: Pass,
  { problem, ready }: ConfigResult,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
): ConfigReport {
  const mounted = statefulSet === undefined ? { mode: "none" as const } : mountedConfig(statefulSet);
  const merged = mounted.mode === "merged";
  return {
    mode: settings.config.mode,
    message: ready?.message ?? "",
    ...(problem === undefined ? {} : { problem }),
    mounted: {
      digest: merged ? mounted.digest : "",
      finalName: merged ? mounted.name : "",
      finalKind: merged ? mounted.kind : "",
    },
  };
}
