/** What the steps of one pass over a server share. */
import type { Clock, DeepReadonly, ReconcileContext, Source, SourceReader } from "@quartet/core";
import type { TEndpoint, TExitedRecord, TServer } from "../api.gen.ts";
import type { FrameworkSettings } from "../desired/framework.ts";
import type { Claim, DaemonSet, Pod, Service, StatefulSet } from "../desired/k8s.ts";
import { modelOf, type ServerModel } from "../desired/model.ts";
import type { PortStyle } from "../desired/ports.ts";
import {
  CLAIM,
  DAEMON_SET,
  POD,
  SERVICE,
  STATEFUL_SET,
  T_ENDPOINT,
  T_EXITED_RECORD,
  T_SERVER,
} from "../kinds.ts";
import type { ServerMetrics } from "../metrics.ts";
import type { Lookups } from "../sources.ts";
import type { Memory } from "./memory.ts";

/** Caches of what belongs to servers. */
export interface Sources {
  readonly servers: Source<TServer>;
  readonly services: Source<Service>;
  readonly statefulSets: Source<StatefulSet>;
  readonly daemonSets: Source<DaemonSet>;
  readonly endpoints: Source<TEndpoint>;
  readonly records: Source<TExitedRecord>;
  readonly pods: Source<Pod>;
  readonly claims: Source<Claim>;
}

/** What a reconciler is made of. */
export interface Parts {
  readonly lookups: (signal: AbortSignal) => Promise<Lookups>;
  readonly memories: { of(key: string): Memory; forget(key: string): void };
  readonly clock: Clock;
  readonly settings: ServerSettings;
  readonly metrics: ServerMetrics;
}

/** Flags that servers follow. */
export interface ServerSettings {
  readonly portStyle: PortStyle;
  /** The claim `delay-bind` for pods that are bound to a node (D9). */
  readonly hostBindClaim: boolean;
  /** The controller sets the readiness gate where there is no registry (RG-006). */
  readonly gateFallback: boolean;
}

/** The caches that a reconcile reads. */
export function sourcesOf(cache: SourceReader): Sources {
  return {
    servers: cache.source(T_SERVER),
    services: cache.source(SERVICE),
    statefulSets: cache.source(STATEFUL_SET),
    daemonSets: cache.source(DAEMON_SET),
    endpoints: cache.source(T_ENDPOINT),
    records: cache.source(T_EXITED_RECORD),
    pods: cache.source(POD),
    claims: cache.source(CLAIM),
  };
}

/** One pass. */
export interface Pass {
  readonly ctx: ReconcileContext;
  readonly server: DeepReadonly<TServer>;
  readonly model: ServerModel;
  readonly informers: Sources;
  readonly framework: FrameworkSettings;
  readonly memory: Memory;
  readonly clock: Clock;
  readonly settings: ServerSettings;
  readonly metrics: ServerMetrics;
  readonly lookups: Lookups;
  /** Pods with the labels of the server. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** What kept a step from its end; the pass is repeated because of it. */
  readonly problems: Problem[];
}

export interface Problem {
  /** For example `Service t/demo-echoserver`. */
  readonly what: string;
  readonly error: unknown;
  /** It is somebody else's object. */
  readonly foreign?: boolean;
}

export function newPass(
  parts: { ctx: ReconcileContext; server: DeepReadonly<TServer> } & Pick<
    Pass,
    "informers" | "framework" | "memory" | "clock" | "settings" | "metrics" | "lookups" | "pods"
  >,
): Pass {
  return { ...parts, model: modelOf(parts.server), problems: [] };
}
