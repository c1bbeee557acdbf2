/** What a kind with one counterpart in the account says of itself; {@link createResourceReconcile} does the rest. */
import type { Kind, KubeObject, SourceReader } from "@quartet/core";
import type { CloudflareApi } from "../cloudflare/api.ts";
import type { ApiError } from "../cloudflare/errors.ts";
import type { OptionNotice } from "../desired/origin-request.ts";
import type { Cached } from "../kinds.ts";
import type { CloudflareSpec } from "./access.ts";
import type { Problem } from "./problem.ts";

/** Part of the status that all these kinds have. */
export interface ResourceStatus {
  accountId?: string;
  /** Key of what is about to be created, until its identifier is known. */
  claim?: string;
  state?: string;
  observedGeneration?: number;
  conditions?: unknown;
}

export interface ResourceObject extends KubeObject {
  status?: ResourceStatus;
}

/** An object in the account. */
export interface Remote {
  readonly id: string;
}

/** What an object wants of its counterpart. */
export interface Wanted {
  /** Natural key in the account: the counterpart is found by it when its identifier is not known. */
  readonly key: string;
}

/** Where the counterpart is. */
export interface Scope {
  readonly api: CloudflareApi;
  readonly account: string;
  readonly cache: SourceReader;
}

/** Room for the marker of the owner. */
export interface CommentField<T extends ResourceObject, R extends Remote> {
  /** Longest text, in characters. */
  readonly limit: number;
  of(remote: R): string | null | undefined;
  /** The user's own text; nothing leaves that which is there. */
  text(object: Cached<T>): string | undefined;
}

/** Why a counterpart is compared. */
export interface Change<T extends ResourceObject> {
  readonly object: Cached<T>;
  /** The spec has changed: what it no longer has is taken away. Else what the API fills in by itself does not count. */
  readonly strict: boolean;
}

export interface ResourceKind<T extends ResourceObject, W extends Wanted, R extends Remote> {
  readonly kind: Kind<T>;
  readonly finalizer: string;
  /** What it is called in messages, such as `virtual network`. */
  readonly noun: string;
  /** Words of `status.state`. */
  readonly states: { readonly ready: string; readonly error: string };
  /** Field of the status that holds the identifier. */
  readonly idField: string;
  /** Absent for kinds whose counterparts have no room for a marker. */
  readonly comment?: CommentField<T, R>;
  cloudflare(object: Cached<T>): CloudflareSpec | undefined;
  /** What is wrong with the spec, with its remedy. */
  problem(object: Cached<T>): string | undefined;
  /** Natural key as far as the object alone tells it: two objects of one key are rivals. */
  claimKey(object: Cached<T>): string;
  /** Key by which a counterpart is found that was made before identifiers were kept. */
  formerKey?(object: Cached<T>): string | undefined;
  /** What else in the cluster the counterpart depends on; a change of it is a change of the object. */
  inputs?(object: Cached<T>, cache: SourceReader): Promise<unknown>;
  /** The wanted counterpart; throws {@link Problem} when something that it refers to is missing. */
  wanted(object: Cached<T>, scope: Scope): Promise<W>;
  get(scope: Scope, id: string): Promise<R | undefined>;
  find(scope: Scope, key: string): Promise<readonly R[]>;
  keyOf(remote: R): string;
  create(scope: Scope, wanted: W, comment: string): Promise<R>;
  /** Changes what differs, and returns the remote object itself when nothing does. */
  update(scope: Scope, remote: R, wanted: W, comment: string, change: Change<T>): Promise<R>;
  remove(scope: Scope, remote: R): Promise<void>;
  /** Takes the marker off, for an object whose counterpart is to stay. */
  release?(scope: Scope, remote: R, comment: string): Promise<void>;
  /** The kind's own part of the status. */
  status(remote: R, wanted: W): object;
  /** Whether `status.message` says what is wrong. */
  readonly tellsMessage?: boolean;
  /** Kept in the status of an object whose counterpart was taken over by the annotation. */
  readonly adopted?: object;
  /** Why the counterpart is to stay when the object goes, or nothing. */
  keeps?(object: Cached<T>): string | undefined;
  /** A better word for an answer of the API. */
  explain?(error: ApiError, deleting: boolean): Problem | undefined;
  /** What the owner is to be told of, beside the outcome. */
  notices?(object: Cached<T>, remote: R, scope: Scope): Promise<readonly OptionNotice[]>;
}
