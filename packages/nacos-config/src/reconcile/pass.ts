/** What the steps of one pass share. */
import {
  type Children,
  type Clock,
  childrenOf,
  type ObjectKey,
  type Probes,
  type ReconcileContext,
} from "@quartet/core";
import type { Nacos } from "../api.gen.ts";
import type { DatabaseLimits } from "../database/connection.ts";
import { FAMILY } from "../desired/family.ts";
import type { Notice } from "../desired/notice.ts";
import { type NacosResource, type Settings, settingsOf } from "../desired/settings.ts";
import type { NodeAccess } from "../health/client.ts";
import type { StepResults } from "../status/outcome.ts";
import type { ResourceMemory } from "./memory.ts";
import type { ConfigMetrics } from "./metrics.ts";
import type { NodeWatch } from "./node-watch.ts";

/** What all passes share. */
export interface Tools {
  readonly clock: Clock;
  readonly metrics: ConfigMetrics;
  readonly probes: Probes;
  readonly nodeWatch: NodeWatch;
  readonly databases: DatabaseLimits;
  readonly nodeAccess: NodeAccess;
  /** Nodes are not asked; ready pods are enough. */
  readonly skipNodeCheck: boolean;
}

export interface Pass extends Tools, StepResults {
  readonly resource: NacosResource;
  readonly settings: Settings;
  readonly ctx: ReconcileContext;
  readonly memory: ResourceMemory;
  readonly children: Children<Nacos>;
  /** Key of the resource. */
  readonly key: ObjectKey;
  /** Events to send when the pass is over. */
  readonly notices: Notice[];
}

export function newPass(
  resource: NacosResource,
  ctx: ReconcileContext,
  memory: ResourceMemory,
  tools: Tools,
): Pass {
  const settings = settingsOf(resource);
  const options = { family: FAMILY, owner: resource, memory: memory.children, clock: tools.clock };
  return {
    ...tools,
    resource,
    settings,
    ctx,
    memory,
    children: childrenOf(ctx, options),
    key: { namespace: settings.namespace, name: settings.name },
    failures: [],
    reports: [],
    stepStatus: {},
    recreating: false,
    notices: [],
  };
}
