/** What the steps of one pass share. */
import type { Children, ObjectKey, ReconcileContext, Source } from "@quartet/core";
import type { Nacos } from "../api.gen.ts";
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
  readonly children: Children<Nacos>;
  /** Failures of steps, in their order. */
  readonly failures: StepFailure[];
  /** States of the conditions DatabaseReady and AdminReady, where a step knows of them. */
  readonly reports: ConditionState[];
  /** Fields of the status that steps change. */
  readonly stepStatus: StepStatus;
  /** Events to send when the pass is over. */
  readonly notices: Notice[];
}

/** Key of an object of the resource's namespace. */
export function childKey({ settings }: Pick<Pass, "settings">, name: string): ObjectKey {
  return { namespace: settings.namespace, name };
}
