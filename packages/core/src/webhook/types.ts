/** Contracts of admission and conversion webhooks. */
import type { Client } from "../client/types.ts";
import type { DeclaredSource } from "../controller/types.ts";
import type { LabelSelector } from "../kinds/index.ts";
import type { Manager } from "../manager/types.ts";
import type { FlagCondition, FlagValues } from "../module/flags.ts";
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import type { AdmissionReader } from "./within-namespace.ts";

/** `request` of an AdmissionReview v1. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  uid: string;
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  subResource?: string;
  name?: string;
  namespace?: string;
  operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  userInfo: { username?: string; uid?: string; groups?: string[] };
  object?: T | null;
  oldObject?: T | null;
  dryRun?: boolean;
}

/** One field that is wrong, or one object that cannot be accepted. */
export interface Violation {
  /** Path of the field, for example `spec.text`. */
  path: string;
  /** Leave out where the value may be secret. */
  value?: unknown;
  /** What is wrong and how to mend it. */
  message: string;
  /** Cause of the Status, such as `FieldValueRequired`. Default `FieldValueInvalid`. */
  reason?: string;
}

/** A refusal that names no field. */
export interface Refusal {
  refused: string;
  /** HTTP code of the answer: 403 Forbidden unless given, or 400 for a request that is wrong in itself. */
  code?: 400 | 403;
}

export interface AdmissionContext<T extends KubeObject = KubeObject> {
  /** Aborts 500 ms before the API server gives up (CORE-340). */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** What the webhook declared in `reads`, in the namespace of the request: an answer tells of no other. */
  readonly cache: AdmissionReader;
  /**
   * For live reads, and for writes of hooks with `sideEffects: "NoneOnDryRun"`; these pass without leadership, since
   * every replica answers. What else writes, or writes for a dry run, is refused (CORE-341); writes that are dry runs
   * themselves are sent.
   */
  readonly client: Client;
  /** No handler has side effects then. */
  readonly dryRun: boolean;
  readonly request: AdmissionRequest<T>;
  /** The object before an update, or the deleted object. */
  readonly old: DeepReadonly<T> | undefined;
  /** Adds a warning that the user sees; long texts are cut at 256 characters. */
  warn(text: string): void;
}

/**
 * Says what is wrong with the object; an empty list admits it. For DELETE the object is the one to be deleted. Of an
 * update that changes labels, annotations or owners alone, violations outside of `metadata` are not held against it
 * (CORE-339).
 */
export type Validate<T extends KubeObject = KubeObject> = (
  object: DeepReadonly<T>,
  ctx: AdmissionContext<T>,
) => readonly Violation[] | Refusal | Promise<readonly Violation[] | Refusal>;

/** Returns the object as it should be, or refuses it; it gets a copy of its own and may change that. */
export type Mutate<T extends KubeObject = KubeObject> = (
  object: T,
  ctx: AdmissionContext<T>,
) => KubeObject | Refusal | Promise<KubeObject | Refusal>;

type Operation = "CREATE" | "UPDATE" | "DELETE";

/** CEL expression over `request`, `object` and `oldObject`; the API server calls the hook only if all hold (1.30 on). */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

interface WebhookBase<T extends KubeObject> {
  /** Kind of the objects; with a {@link WebhookBase.subresource}, the kind that has it. */
  readonly kind: Kind<T>;
  /**
   * Versions in which the hook takes objects. Default: the kind's own; the API server converts those of other versions
   * before it asks (matchPolicy Equivalent). Objects of a version that is named come as they were sent.
   */
  readonly versions?: readonly string[];
  /** For example `scale`: the object is then a Scale. */
  readonly subresource?: string;
  readonly operations: readonly Operation[];
  /** Qualified name. Default: `validate.echo.test.quartet.io` for the kind Echo. */
  readonly name?: string;
  /** Path on the webhook server. Default: `/validate-test-quartet-io-v1-echo`. */
  readonly path?: string;
  /**
   * `NoneOnDryRun`: the handler may write by `ctx.client` unless the request is a dry run. Default `None`: its writes are
   * refused (CORE-341).
   */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** Default: `Fail` on kinds of a module, else `Ignore` (CORE-342). */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** 1 to 30. Default 10. */
  readonly timeoutSeconds?: number;
  readonly objectSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  /** The hook exists only then. */
  readonly when?: FlagCondition;
  /** What the handler reads by `ctx.cache`: until all of it is there it answers HTTP 500 (CORE-344). Default: nothing. */
  readonly reads?: readonly DeclaredSource[];
}

export interface ValidatingWebhook<T extends KubeObject = KubeObject> extends WebhookBase<T> {
  readonly type: "validating";
  /** Called once, after `build`. */
  handler(manager: Manager, flags: FlagValues): Validate<T>;
}

export interface MutatingWebhook<T extends KubeObject = KubeObject> extends WebhookBase<T> {
  readonly type: "mutating";
  /** Called once, after `build`. */
  handler(manager: Manager, flags: FlagValues): Mutate<T>;
}

/** An admission webhook as a controller package declares it, whatever its object type. */
export type Webhook = ValidatingWebhook<never> | MutatingWebhook<never>;

/** Declares a webhook that says what is wrong with an object. */
export function validating<T extends KubeObject>(hook: Omit<ValidatingWebhook<T>, "type">): Webhook {
  return { type: "validating", ...hook } as ValidatingWebhook<never>;
}

/** Declares a webhook that completes an object. */
export function mutating<T extends KubeObject>(hook: Omit<MutatingWebhook<T>, "type">): Webhook {
  return { type: "mutating", ...hook } as MutatingWebhook<never>;
}

export interface ConversionContext {
  readonly log: Logger;
}

/** A version of a CRD that is converted to and from the hub; both functions get a copy of their own. */
export interface Spoke<Hub extends KubeObject, T extends KubeObject> {
  readonly version: string;
  toHub(object: T, ctx: ConversionContext): Hub;
  fromHub(object: Hub, ctx: ConversionContext): T;
}

/** Converts the objects of one CRD between its versions by way of the hub version. */
export interface Conversion {
  /** In the hub version: the one that all others convert to and from. */
  readonly kind: Kind;
  readonly spokes: readonly Spoke<KubeObject, KubeObject>[];
  /** The CRD is ours to convert only then. */
  readonly when?: FlagCondition;
}

/** Declares the conversions of a CRD; `kind` is in the hub version. */
export function conversion<Hub extends KubeObject>(
  kind: Kind<Hub>,
  spokes: readonly Spoke<Hub, KubeObject>[],
  options: Pick<Conversion, "when"> = {},
): Conversion {
  return { ...options, kind: kind as unknown as Kind, spokes: spokes as Conversion["spokes"] };
}
