/** What a resource refers to, as its pass reads it. */
import {
  type DeepReadonly,
  type Kind,
  type KubeObject,
  NotCachedError,
  type Reference,
  UnreadableError,
} from "@quartet/core";
import { POD, type Pod, type StatefulSet } from "@quartet/core/kinds";
import { DEFAULT_IDENTITY_KEYS } from "../desired/nacos-env.ts";
import type { SourceRef } from "../desired/settings.ts";
import type { FoundSource } from "../desired/source.ts";
import { configKind } from "../kinds.ts";
import { strangePods } from "./interests.ts";
import type { Pass } from "./pass.ts";

/** What a pass reads references from. */
export type Referring = Pick<Pass, "ctx" | "settings">;

/** A configuration source as it is now. */
export function findSource(pass: Referring, { kind, name }: Pick<SourceRef, "kind" | "name">): FoundSource {
  const found = referred(pass, configKind(kind), name);
  if ("unreadable" in found) return { state: "unreadable", message: found.unreadable };
  const [object] = found.objects;
  return object === undefined ? { state: "absent" } : { state: "present", object };
}

/** A Secret that the resource names outside its configuration, as it is now. */
export function findSecret(pass: Referring, name: string): FoundSource {
  return name === "" ? { state: "absent" } : findSource(pass, { kind: "Secret", name });
}

/** The server identity header; `undefined` when the Secret or one of its keys is missing or unfit for a header. */
export function findIdentity(pass: Referring): { name: string; value: string } | undefined {
  const { name: secret = "", keyKey, valueKey } = pass.settings.spec.identitySecretRef ?? {};
  const found = findSecret(pass, secret);
  if (found.state !== "present") return undefined;
  const read = (key: string): string =>
    Buffer.from(found.object.data?.[key] ?? "", "base64")
      .toString("utf8")
      .trim();
  const name = read(keyKey || DEFAULT_IDENTITY_KEYS.key);
  const value = read(valueKey || DEFAULT_IDENTITY_KEYS.value);
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]+$/.test(value) ? { name, value } : undefined;
}

/** Pods with the labels of a StatefulSet's; none without one. */
export function podsOf(
  pass: Referring,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
): readonly DeepReadonly<Pod>[] {
  if (statefulSet === undefined) return [];
  const { namespace, name } = pass.settings;
  const strangers = strangePods(statefulSet);
  if (strangers === undefined) return pass.ctx.cache.source(POD).list({ namespace, labels: { app: name } });
  const found = referred(pass, POD, strangers);
  return "objects" in found ? found.objects : [];
}

/** Objects that a reference of the resource covers, or why they cannot be read. */
function referred<T extends KubeObject>(
  { ctx }: Referring,
  kind: Kind<T>,
  reference: Reference,
): { readonly objects: readonly DeepReadonly<T>[] } | { readonly unreadable: string } {
  try {
    return { objects: ctx.cache.referred(kind, reference) };
  } catch (error) {
    if (!(error instanceof UnreadableError || error instanceof NotCachedError)) throw error;
    const { cause } = error;
    return {
      unreadable: cause instanceof Error ? cause.message : "it has not been received from the API server",
    };
  }
}
