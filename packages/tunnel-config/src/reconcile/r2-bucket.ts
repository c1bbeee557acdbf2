/** R2Buckets (TUN-942, TUN-943, TUN-945). */
import type { R2Bucket } from "../api.gen.ts";
import type { Collection } from "../cloudflare/collection.ts";
import type { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import { isHeld, isSame } from "../desired/changes.ts";
import { bucketName, bucketProblem, corsRules, lifecycleRules } from "../desired/r2-bucket.ts";
import { R2_BUCKET } from "../kinds.ts";
import { Problem } from "./problem.ts";
import type { Change, ResourceKind, Scope, Wanted } from "./resource.ts";

const NOT_EMPTY = 10008;
const NOT_ENABLED = 10042;
/** Times after which a bucket that is not empty, and an account without R2, are asked again, in milliseconds. */
const NOT_EMPTY_MS = 300_000;
const NOT_ENABLED_MS = 3_600_000;

/** A bucket of an account; its name is its identifier. */
interface RemoteBucket {
  readonly id: string;
  readonly location: string;
  readonly createdAt: string;
}

interface WantedBucket extends Wanted {
  readonly hint: string | undefined;
  readonly cors: readonly object[];
  readonly lifecycle: readonly object[];
}

interface BucketInfo {
  readonly name: string;
  readonly location?: string;
  readonly creation_date?: string;
}

const buckets = ({ api, account }: Scope): Collection<BucketInfo> => api.collection(account, "r2/buckets");

function remoteOf({ name, location = "", creation_date = "" }: BucketInfo): RemoteBucket {
  return { id: name, location, createdAt: creation_date };
}

async function get(scope: Scope, name: string): Promise<RemoteBucket | undefined> {
  const found = await buckets(scope).get(name);
  return found === undefined ? undefined : remoteOf(found);
}

export const R2_BUCKETS: ResourceKind<R2Bucket, WantedBucket, RemoteBucket> = {
  kind: R2_BUCKET,
  finalizer: "cloudflare.com/r2-bucket-finalizer",
  noun: "bucket",
  states: { ready: "Ready", error: "Error" },
  idField: "bucketName",
  adopted: { adopted: true },
  tellsMessage: true,
  cloudflare: ({ spec }) =>
    spec?.credentialsRef === undefined
      ? spec?.cloudflare
      : { ...spec.cloudflare, credentialsRef: spec.credentialsRef },
  problem: bucketProblem,
  claimKey: bucketName,
  async wanted(object) {
    const key = bucketName(object);
    const { bucketName: there } = object.status ?? {};
    if (there && there !== key) {
      const message = `spec.name: the bucket is ${there}, and a bucket cannot be renamed; put that name back, or make another object`;
      throw new Problem("ImmutableField", message);
    }
    const spec = object.spec ?? {};
    return { key, hint: spec.locationHint, cors: corsRules(spec), lifecycle: lifecycleRules(spec) };
  },
  get,
  async find(scope, name) {
    const found = await get(scope, name);
    return found === undefined ? [] : [found];
  },
  keyOf: ({ id }) => id,
  async create(scope, { key, hint }) {
    return remoteOf(
      await buckets(scope).create({ name: key, ...(hint !== undefined && { locationHint: hint }) }),
    );
  },
  async update(scope, remote, { cors, lifecycle }, _, change) {
    const { corsRulesCount = 0, lifecycleRulesCount = 0 } = change.object.status ?? {};
    const first = await keepRules(scope, `${remote.id}/cors`, cors, corsRulesCount > 0, change);
    const second = await keepRules(
      scope,
      `${remote.id}/lifecycle`,
      lifecycle,
      lifecycleRulesCount > 0,
      change,
    );
    return first || second ? { ...remote } : remote;
  },
  remove: (scope, { id }) => buckets(scope).remove(id),
  keeps({ spec, status, metadata }) {
    const asked = metadata.annotations?.[ANNOTATIONS.deletionPolicy];
    if (asked === "Delete") return undefined;
    if (spec?.deletionPolicy === "Orphan") return "spec.deletionPolicy is Orphan";
    return status?.adopted === true
      ? `it was there before the object; the annotation ${ANNOTATIONS.deletionPolicy}: Delete would delete it`
      : undefined;
  },
  status: ({ location, createdAt }, { cors, lifecycle }) => ({
    location,
    createdAt,
    corsRulesCount: cors.length,
    lifecycleRulesCount: lifecycle.length,
    message: "",
  }),
  explain,
  async notices({ spec }, { location }) {
    const hint = spec?.locationHint;
    if (hint === undefined || location === "" || location.toLowerCase() === hint) return [];
    const message = `the bucket is in ${location}, spec.locationHint is ${hint}: it holds at the creation alone`;
    return [{ reason: "LocationDiffers", message }];
  },
};

/**
 * Brings one list of rules to what is wanted; says whether that took a call that changes. Rules that somebody else has
 * set on a bucket for which the object wants none are left alone.
 */
async function keepRules(
  { api, account }: Scope,
  path: string,
  rules: readonly object[],
  had: boolean,
  { strict }: Change<R2Bucket>,
): Promise<boolean> {
  if (rules.length === 0 && !had) return false;
  const setting = api.setting<{ rules?: readonly unknown[] }>(account, `r2/buckets/${path}`);
  const there = (await setting.get())?.rules ?? [];
  if ((strict ? isSame : isHeld)(there, rules)) return false;
  if (rules.length === 0 && path.endsWith("/cors")) await setting.remove();
  else await setting.put({ rules });
  return true;
}

function explain(error: ApiError, deleting: boolean): Problem | undefined {
  if (error.is(NOT_ENABLED))
    return new Problem("FeatureNotEnabled", error.message, { retryAfterMs: NOT_ENABLED_MS });
  if (!deleting || !error.is(NOT_EMPTY)) return undefined;
  const remedy = "empty it, or set spec.deletionPolicy to Orphan";
  return new Problem("BucketNotEmpty", `${error.message}; ${remedy}`, { retryAfterMs: NOT_EMPTY_MS });
}
