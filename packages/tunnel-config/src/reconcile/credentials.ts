/** CloudflareCredentials: whether Cloudflare takes them (TUN-107, TUN-108). */
import {
  type Clock,
  type Condition,
  finalizer,
  type Kind,
  type KubeObject,
  type Reconcile,
  type ReconcileContext,
  seconds,
  setCondition,
} from "@quartet/core";
import type { CloudflareCredentials } from "../api.gen.ts";
import type { CloudflareApi } from "../cloudflare/api.ts";
import { ANNOTATIONS, CREDENTIALS_FINALIZER } from "../constants.ts";
import { type Cached, CREDENTIALS } from "../kinds.ts";
import { type AccessOptions, accessOf, defaultCredentials } from "./access.ts";
import type { Backoff } from "./backoff.ts";
import { Problem, problemOf } from "./problem.ts";
import { type Reportable, reportProblem, reportReady } from "./report.ts";

const RECHECK_MS = 3_600_000;
const RETRY_MS = 300_000;

export interface SimpleOptions extends AccessOptions {
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** Tells clusters apart that share an account; empty where none do. */
  readonly clusterId: string;
}

/** Users that are named in the condition. */
const MAX_NAMED = 10;

/** An object that may name credentials. */
export interface CredentialUser extends KubeObject {
  spec?: { credentialsRef?: { name: string }; cloudflare?: { credentialsRef?: { name: string } } };
}

/** Name of the credentials that an object names, or nothing. */
export function credentialsNameOf({ spec }: Cached<CredentialUser>): string | undefined {
  return (spec?.credentialsRef ?? spec?.cloudflare?.credentialsRef)?.name;
}

export interface CredentialsOptions extends SimpleOptions {
  /** Kinds whose objects name credentials. */
  readonly users: readonly Kind[];
}

/** Reconcile of CloudflareCredentials. */
export function createCredentialsReconcile(options: CredentialsOptions): Reconcile {
  const guard = finalizer<CloudflareCredentials, ReconcileContext>({
    kind: CREDENTIALS,
    name: CREDENTIALS_FINALIZER,
    cleanup: async () => {},
  });
  /** By which client they were checked last: another Secret makes another one. After a restart the status is believed. */
  const checkedBy = new Map<string, CloudflareApi>();
  return async (key, ctx) => {
    const object = await ctx.cache.get(CREDENTIALS, key);
    const id = `CloudflareCredentials/${key.name}`;
    if (object === undefined) {
      checkedBy.delete(key.name);
      return options.backoff.reset(id);
    }
    const now = options.clock.now();
    const run = { kind: CREDENTIALS, object, ctx, now };
    if (object.metadata.deletionTimestamp !== undefined) {
      const users = await usersOf(key.name, options.users, ctx);
      if (users.length === 0 || object.metadata.annotations?.[ANNOTATIONS.forceDelete] === "true")
        await guard(object, ctx);
      else await reportInUse(run, users);
      return;
    }
    if ((await guard(object, ctx)) !== "present") return;
    try {
      const elder = object.spec.isDefault === true ? await defaultCredentials(ctx.cache) : undefined;
      if (elder !== undefined && elder.metadata.name !== key.name) {
        throw new Problem(
          "DefaultTaken",
          `CloudflareCredentials ${elder.metadata.name} is already the default`,
        );
      }
      const { api } = await accessOf(object, ctx.cache, options);
      const checked = Date.parse(object.status?.lastValidatedTime ?? "");
      const isSame = (checkedBy.get(key.name) ?? api) === api;
      checkedBy.set(key.name, api);
      const fresh =
        isSame &&
        object.status?.state === "Ready" &&
        object.status.observedGeneration === object.metadata.generation &&
        now - checked < RECHECK_MS;
      if (fresh) return { requeueAfter: checked + RECHECK_MS - now };
      const { name } = await api.account(object.spec.accountId);
      const status = { state: "Ready", validated: true, accountName: name, lastValidatedTime: seconds(now) };
      await reportReady(run, "Validated", status);
      options.backoff.reset(id);
      return { requeueAfter: RECHECK_MS };
    } catch (error) {
      const problem = problemOf(error);
      const retry =
        problem.retryAfterMs === undefined && !problem.transient && problem.reason !== "DefaultTaken"
          ? RETRY_MS
          : undefined;
      const status = { state: "Error", validated: false };
      const result = await reportProblem(run, problem, status, { store: options.backoff, id });
      return retry === undefined ? result : { requeueAfter: retry };
    }
  };
}

async function usersOf(name: string, kinds: readonly Kind[], { cache }: ReconcileContext): Promise<string[]> {
  const lists = await Promise.all(kinds.map((kind) => cache.list(kind as Kind<CredentialUser>)));
  return lists
    .flat()
    .filter((user) => credentialsNameOf(user) === name)
    .map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name].filter(Boolean).join("/"))
    .sort();
}

/** Credentials stay as long as something names them: what it made in the account could not be taken away (TUN-114). */
async function reportInUse(
  { object, ctx, now }: { object: Cached<CloudflareCredentials>; ctx: ReconcileContext; now: number },
  users: readonly string[],
): Promise<void> {
  const named = users.slice(0, MAX_NAMED).join(", ");
  const more = users.length > MAX_NAMED ? ` and ${users.length - MAX_NAMED} more` : "";
  const message = `named by ${named}${more}; change or delete them, or set the annotation ${ANNOTATIONS.forceDelete}: "true"`;
  const observedGeneration = object.metadata.generation ?? 0;
  const input = { type: "InUse", status: "True" as const, reason: "Referenced", message, observedGeneration };
  const { conditions } = setCondition(object.status?.conditions as Condition[] | undefined, input, now);
  await ctx.client.patchStatus<Reportable>(CREDENTIALS as Kind as Kind<Reportable>, object, {
    ...object.status,
    conditions,
  });
}
