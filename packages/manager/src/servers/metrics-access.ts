/** Who may read metrics: bearer tokens reviewed by the API server. */
import { createHash } from "node:crypto";
import type { Client, Clock } from "@quartet/core";

/** How long an answer of the API server counts. CORE-283. */
const CACHE_MS = 60_000;
/** Tokens remembered at once. */
const CACHE_SIZE = 1_000;

const TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

type Access = "allowed" | "unauthenticated" | "denied";

/** Decides on a token; rejects when the API server cannot be asked. */
export type AccessReviewer = (token: string) => Promise<Access>;

interface TokenReviewStatus {
  authenticated?: boolean;
  user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
}

/** Reviewer of the right to `get` a path without resource, such as `/metrics`. */
export function accessReviewer(client: Pick<Client, "raw">, path: string, clock: Clock): AccessReviewer {
  const known = new Map<string, { until: number; access: Promise<Access> }>();
  return (token) => {
    // Tokens themselves are not kept in memory.
    const key = createHash("sha256").update(token).digest("base64");
    const now = clock.monotonic();
    const hit = known.get(key);
    if (hit !== undefined && hit.until > now) return hit.access;
    const access = review(client, token, path);
    known.delete(key);
    known.set(key, { until: now + CACHE_MS, access });
    if (known.size > CACHE_SIZE) known.delete(known.keys().next().value!);
    access.catch(() => known.delete(key));
    return access;
  };
}

async function review(client: Pick<Client, "raw">, token: string, path: string): Promise<Access> {
  const tokenReview = await client.raw("POST", TOKEN_REVIEWS, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenReview",
    spec: { token },
  });
  const { authenticated, user } = statusOf<TokenReviewStatus>(tokenReview);
  if (authenticated !== true || user === undefined) return "unauthenticated";
  const accessReview = await client.raw("POST", ACCESS_REVIEWS, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: user.username,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
      nonResourceAttributes: { path, verb: "get" },
    },
  });
  return statusOf<{ allowed?: boolean }>(accessReview).allowed === true ? "allowed" : "denied";
}

const statusOf = <T extends object>(body: unknown): Partial<T> => (body as { status?: T }).status ?? {};
