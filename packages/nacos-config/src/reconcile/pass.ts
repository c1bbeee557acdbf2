/** What the steps of one pass share. */
import type { DeepReadonly, Kind, KubeObject, ObjectKey, ReconcileContext, Source } from "@quartet/core";
import type { ConfigObject, Job, Pod, Service, StatefulSet } from "../desired/k8s.ts";
import type { Notice } from "../desired/notice.ts";
import type { NacosResource, Settings } from "../desired/settings.ts";
import type { ConfigKind } from "../kinds.ts";
import type { ConditionState } from "../status/conditions.ts";
import type { StepFailure, StepStatus } from "../status/outcome.ts";

/** The controller's informers. */
export interface Informers {
  readonly statefulSets: Source<StatefulSet>;
  readonly services: Source<Service>;
  readonly jobs: Source<Job>;
  readonly pods: Source<Pod>;
  readonly configs: Readonly<Record<ConfigKind, Source<ConfigObject>>>;
}

export interface Pass {
  readonly resource: NacosResource;
  readonly settings: Settings;
  readonly ctx: ReconcileContext;
  readonly informers: Informers;
  /** Failures of steps, in their order. */
  readonly failures: StepFailure[];
  /** States of the conditions DatabaseReady and AdminReady, where a step knows of them. */
  readonly reports: ConditionState[];
  /** Fields of the status that steps change. */
  readonly stepStatus: StepStatus;
  /** Events to send when the pass is over. */
  readonly notices: Notice[];
  /** Names of children that objects outside the caches were found to have, as `plural/name`. */
  readonly taken: Set<string>;
}

/** Key of a child. */
export function childKey({ settings }: Pass, name: string): ObjectKey {
  return { namespace: settings.namespace, name };
}

/** What `ensure` needs to know of a child. */
export function childOptions<T extends KubeObject>(
  pass: Pass,
  kind: Kind<T>,
  informer: Source<T>,
  name: string,
): {
  client: ReconcileContext["client"];
  kind: Kind<T>;
  key: ObjectKey;
  cached: DeepReadonly<T> | undefined;
  taken: Set<string>;
  signal: AbortSignal;
} {
  const key = childKey(pass, name);
  const { ctx, taken } = pass;
  return { client: ctx.client, kind, key, cached: informer.get(key), taken, signal: ctx.signal };
}
