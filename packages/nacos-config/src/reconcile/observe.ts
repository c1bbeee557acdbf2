/** Looks at StatefulSet, pods and nodes when all is written. */
import type { Condition, DeepReadonly } from "@quartet/core";
import type { Pod, StatefulSet } from "@quartet/core/kinds";
import type { ConfigResult } from "../desired/config.ts";
import { FINAL_CONFIG_KEY } from "../desired/names.ts";
import { parseProperties } from "../desired/properties.ts";
import type { NacosResource } from "../desired/settings.ts";
import { mountedConfig } from "../desired/volumes.ts";
import { nodesOf } from "../health/node-facts.ts";
import { configKind } from "../kinds.ts";
import type { Outcome } from "../status/outcome.ts";
import { healthStep } from "./health-step.ts";
import { noteHealth, noteRollout } from "./memory.ts";
import type { Pass } from "./pass.ts";
import { podsOf } from "./references.ts";
import { workloadReport } from "./workload.ts";

/** What there is after the writes; `undefined` while the nodes take their time to answer. */
export async function observe(
  run: Pass,
  config: ConfigResult,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
  given: Pick<Outcome, "violations" | "paused">,
): Promise<Outcome | undefined> {
  const { settings, memory, clock, failures, reports, stepStatus, recreating, awaited } = run;
  run.metrics.merged(settings, config);
  const base = {
    ...given,
    failures,
    reports,
    stepStatus,
    recreating,
    awaited,
    memory,
    replicas: settings.replicas,
    standalone: settings.type === "standalone",
    config: {
      mode: settings.config.mode,
      message: config.ready?.message ?? "",
      problem: config.problem,
      mounted: statefulSet === undefined ? ({ mode: "none" } as const) : mountedConfig(statefulSet),
    },
  };
  if (statefulSet === undefined) return { ...base, now: clock.now() };
  const pods = podsOf(run, statefulSet);
  const nodes = nodesOf(statefulSet, pods);
  const known = memory.firstPass ? (memory.scaledFrom ?? scaledFromOf(run.resource)) : memory.scaledFrom;
  if (known !== undefined) memory.scaledFrom = known;
  delete memory.firstPass;
  const workload = workloadReport(statefulSet, nodes, memory.scaledFrom);
  if (!workload.scaling && !workload.rolling) delete memory.scaledFrom;
  const target = statefulSet.status?.updateRevision;
  noteRollout(memory, workload.rolling, target, clock.now(), rolloutSince(run.resource, pods));
  const properties = config.ready?.effective ?? propertiesInForce(run, statefulSet);
  const health = await healthStep(run, statefulSet, nodes, properties);
  if (health === "pending") return undefined;
  if (health !== undefined) noteHealth(memory, health, clock.now());
  return { ...base, now: clock.now(), workload, health };
}

/** Properties of the generated object that the pods mount, while its sources cannot be used. */
function propertiesInForce(
  { children }: Pass,
  statefulSet: DeepReadonly<StatefulSet>,
): ReadonlyMap<string, string> {
  const mounted = mountedConfig(statefulSet);
  if (mounted.mode !== "merged") return new Map();
  const { data } = children.read(configKind(mounted.kind), mounted.name) ?? {};
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
