/** What the webhooks work with. */
import {
  type Client,
  type Clock,
  type DeepReadonly,
  isNotFound,
  type Kind,
  type KubeObject,
} from "@quartet/core";
import type { AdmissionContext, AdmissionRequest, Refusal } from "@quartet/core/webhook";
import type { Denial } from "../admission/denial.ts";
import type { AnyServer } from "../admission/mutate-server.ts";
import type { TServer, TServerV1Beta3 } from "../api.gen.ts";
import { serverFromV1Beta3 } from "../conversion/conversions.ts";
import type { Identities } from "../identity.ts";
import { T_SERVER, T_TEMPLATE } from "../kinds.ts";
import type { Lookups } from "../sources.ts";

export interface HookContext {
  /** Writes on every replica, not on the leader alone. */
  readonly client: Client;
  readonly clock: Clock;
  readonly identities: Identities;
  /** Age below which an active TConfig cannot be deleted, ms; 0 for none. */
  readonly deleteGuardMs: number;
  /** Counts a request that was denied. */
  readonly countDenial: (kind: string, operation: string) => void;
  /** Rejects until the caches can be asked. */
  lookups(signal: AbortSignal): Promise<Lookups>;
}

/** A denial as the peer answers: HTTP 400. */
export function refusal(denial: string): Refusal {
  return { refused: denial, code: 400 };
}

/** The answer of a hook, counted if it refuses; a request that only tries is not counted. */
export function counted<T extends object>({ countDenial }: HookContext, ctx: AdmissionContext, answer: T): T {
  const { kind, operation } = ctx.request;
  if ("refused" in answer && !ctx.dryRun) countDenial(kind.kind, operation);
  return answer;
}

/** The verdict of a validation. */
export function verdict(denial: Denial): readonly [] | Refusal {
  return denial === undefined ? [] : refusal(denial);
}

/** RFC 3339, UTC, whole seconds. */
export function timeOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, "YYYY-MM-DDTHH:mm:ss".length)}Z`;
}

/** The namespace of a request; look-ups never leave it. */
export function namespaceOf(request: AdmissionRequest): string {
  return request.namespace ?? "";
}

/** Whether an object is there: by the cache, or else by the server (API-005). */
async function exists(
  context: HookContext,
  kind: Kind,
  key: { namespace: string; name: string },
  cached: object | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (cached !== undefined) return true;
  return key.name !== "" && isLive(context, kind, key, signal);
}

/** Whether the server has an object. */
export async function isLive(
  { client }: HookContext,
  kind: Kind,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.get(kind, key, { signal, metadataOnly: true });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Selector of the objects with all of these labels. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(",");
}

/**
 * Whether the server has an object that a selector finds. Asked before a deletion is allowed because the cache knows of
 * nothing that refers to the object: what was written a moment ago is not there yet (API-005).
 */
export async function isReferredTo(
  { client }: HookContext,
  kind: Kind,
  labelSelector: string,
  { request, signal }: AdmissionContext,
): Promise<boolean> {
  const namespace = namespaceOf(request);
  const { items } = await client.list(kind, {
    namespace,
    labelSelector,
    limit: 1,
    metadataOnly: true,
    signal,
  });
  return items.length > 0;
}

/** Whether the namespace has such a TTemplate. */
export function templateExists(
  context: HookContext,
  lookups: Lookups,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<boolean> {
  return exists(context, T_TEMPLATE, key, lookups.template(key.namespace, key.name), signal);
}

/** Whether the namespace has such a TServer. */
export function serverExists(
  context: HookContext,
  lookups: Lookups,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<boolean> {
  return exists(context, T_SERVER, key, lookups.server(key.namespace, key.name), signal);
}

/** A TServer of either version as the one that is stored. */
export function storedServer(object: DeepReadonly<KubeObject>): TServer {
  const copy = structuredClone(object) as AnyServer;
  if (!copy.apiVersion.endsWith("/v1beta3")) return copy;
  return { ...serverFromV1Beta3(copy as unknown as TServerV1Beta3), apiVersion: copy.apiVersion };
}
