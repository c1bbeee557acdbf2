/** Contracts of admission and conversion webhooks. */
import type { DeclaredSource, SourceReader } from "../controller/types.ts";
import type { DeepReadonly, KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";

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
  /** What the webhook declared in `reads`. */
  readonly cache: SourceReader;
  /** True for a dry run: no handler has side effects then, and without declaring them none has any (CORE-341). */
  readonly dryRun: boolean;
  readonly request: AdmissionRequest<T>;
  /** The object before an update, or the deleted object. */
  readonly old: DeepReadonly<T> | undefined;
  /** Adds a warning that the user sees; long texts are cut at 256 characters. */
  warn(text: string): void;
}

/** Says what is wrong with the object; an empty list admits it. For DELETE the object is the one to be deleted. */
export type Validate<T extends KubeObject = KubeObject> = (
  object: DeepReadonly<T>,
  ctx: AdmissionContext<T>,
) => readonly Violation[] | Refusal | Promise<readonly Violation[] | Refusal>;

/** Returns the object as it should be, or refuses it; it gets a copy of its own and may change that. */
export type Mutate<T extends KubeObject = KubeObject> = (
  object: T,
  ctx: AdmissionContext<T>,
) => KubeObject | Refusal | Promise<KubeObject | Refusal>;

/** Which requests a webhook is asked about. */
export interface WebhookRule {
  groups: readonly string[];
  versions: readonly string[];
  resources: readonly string[];
  operations: readonly ("CREATE" | "UPDATE" | "DELETE")[];
  scope: "Namespaced" | "Cluster" | "*";
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {
    key: string;
    operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    values?: string[];
  }[];
}

interface WebhookBase {
  /** Qualified name, for example `defaulting.echo.quartet.io`. */
  name: string;
  /** Path on the webhook server, for example `/mutate-test-quartet-io-v1-echo`. */
  path: string;
  rules: readonly WebhookRule[];
  /** Default: `Fail` when all rules name groups of quartet's own CRDs, else `Ignore` (CORE-342). */
  failurePolicy?: "Fail" | "Ignore";
  /** 1 to 30. Default 10. */
  timeoutSeconds?: number;
  /** `NoneOnDryRun`: the handler writes other objects, but not for a dry run. Default `None`: it cannot write. */
  sideEffects?: "None" | "NoneOnDryRun";
  objectSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  /** What the handler reads by `ctx.cache`: until all of it is there it answers HTTP 500 (CORE-344). Default: nothing. */
  reads?: readonly DeclaredSource[];
}

export interface ValidatingWebhook<T extends KubeObject = KubeObject> extends WebhookBase {
  type: "validating";
  handle: Validate<T>;
}

export interface MutatingWebhook<T extends KubeObject = KubeObject> extends WebhookBase {
  type: "mutating";
  handle: Mutate<T>;
}

/** An admission webhook as a controller package declares it, whatever its object type. */
export type Webhook = ValidatingWebhook<never> | MutatingWebhook<never>;

/** Converts the objects of one CRD between its versions by way of the hub version. */
export interface Conversion {
  group: string;
  kind: string;
  /** The version that all others convert to and from. */
  hub: string;
  /** For every version but the hub; the functions get a copy of their own. */
  versions: Readonly<
    Record<string, { toHub: (object: KubeObject) => KubeObject; fromHub: (object: KubeObject) => KubeObject }>
  >;
}
