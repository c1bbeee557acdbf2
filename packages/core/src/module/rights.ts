/** What a controller package may do, in terms of kinds. */
import type { Kind } from "../object.ts";
import type { FlagCondition, FlagValues } from "./flags.ts";

/** Verbs of RBAC that a manager uses; never `*`. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/**
 * Where a right holds. `work`, the default: where the custom resources are; cluster-wide for cluster-scoped kinds.
 * `own`: in the manager's namespace. Else in one namespace, given by its name or by the flag that holds it, an empty one
 * meaning that the right is not needed.
 */
export type RightPlace = "work" | "own" | { readonly namespace: string } | { readonly flag: string };

export interface RightOptions {
  /** For example `status` or `eviction`. */
  readonly subresource?: string;
  /** Names of the objects; absent means all. A create cannot be limited so. */
  readonly names?: readonly string[];
  readonly place?: RightPlace;
  /**
   * Where the writes among the verbs may go beside the namespace of the reconciled object: to any namespace, to these,
   * or to those that the module's flags name; for cluster-scoped kinds `any`. Absent: nowhere else (CORE-244).
   */
  readonly elsewhere?: "any" | readonly string[] | ((flags: FlagValues) => readonly string[]);
  /** Needed only then. */
  readonly when?: FlagCondition;
  /**
   * The controller can do without; says what happens then, as in `patches are checked when their pods are made`. A missing
   * one is told at the start and by `--check`, and ends nothing.
   */
  readonly optional?: string;
}

/** Verbs on a kind. */
export interface Right extends RightOptions {
  readonly kind: Pick<Kind, "group" | "plural" | "namespaced">;
  readonly verbs: readonly Verb[];
}

/** Verbs on the objects of a kind, or on a subresource of theirs. */
export function allow(kind: Kind<never> | Kind, verbs: readonly Verb[], options: RightOptions = {}): Right {
  return { kind, verbs, ...options };
}

const READS: readonly Verb[] = ["get", "list", "watch"];

/** What a source needs. */
export function reads(kind: Kind<never> | Kind, options: RightOptions = {}): Right {
  return allow(kind, READS, options);
}

/** What children need that a reconcile makes, changes and takes away again. */
export function manages(kind: Kind<never> | Kind, options: RightOptions = {}): Right {
  return allow(kind, [...READS, "create", "update", "patch", "delete"], options);
}

/**
 * What the resource of a controller needs: to be read, its status written, and owner references to it that block its
 * deletion, for which the admission plugin OwnerReferencesPermissionEnforcement asks for `update` on `finalizers`.
 */
export function reconciles(kind: Kind<never> | Kind, options: RightOptions = {}): readonly Right[] {
  return [
    reads(kind, options),
    allow(kind, ["get", "update", "patch"], { ...options, subresource: "status" }),
    allow(kind, ["update"], { ...options, subresource: "finalizers" }),
  ];
}
