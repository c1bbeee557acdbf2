/** Which scripts bring a database to the schema that the spec asks for. */
import type { NacosSpec } from "../desired/settings.ts";
import { POSTGRES_SCHEMAS } from "./schema.ts";
import { type DatabaseProblem, postgresInvalid } from "./target.ts";

/** Version of the peer's only script. */
const DEFAULT_VERSION = 1;
const DEFAULT_POLICY = "IfNotPresent";

export type InitPolicy = "IfNotPresent" | "Always" | "BumpVersion";

/** The schema that is asked for. */
export interface SchemaRequest {
  readonly policy: InitPolicy;
  readonly version: number;
}

/** What a database holds. */
export interface SchemaState {
  /** The table `config_info` exists. */
  readonly present: boolean;
  /** Version in the sentinel table; absent when there is none. */
  readonly sentinel?: number;
}

export type SchemaPlan =
  /** Nothing to do; the schema is of this version, 0 for one that somebody else made. */
  | { readonly action: "none"; readonly version: number }
  /** The scripts to run, and the version that the sentinel is to have. */
  | { readonly action: "run"; readonly scripts: readonly string[]; readonly version: number }
  | { readonly action: "refuse"; readonly version: number };

/** The spec's request with its defaults; `undefined` when the schema is none of the operator's business. */
export function schemaRequest({ pgInit = {} }: NacosSpec): SchemaRequest | DatabaseProblem | undefined {
  const policy = pgInit.policy || DEFAULT_POLICY;
  if (pgInit.enabled === false || policy === "Never") return undefined;
  const version = pgInit.schemaVersion || DEFAULT_VERSION;
  if (version < 1 || version > POSTGRES_SCHEMAS.length) {
    return postgresInvalid("spec.pgInit.schemaVersion", `must be from 1 to ${POSTGRES_SCHEMAS.length}`);
  }
  return { policy, version };
}

/** What there is to do. */
export function planSchema(
  { policy, version }: SchemaRequest,
  { present, sentinel }: SchemaState,
): SchemaPlan {
  const scripts = (from: number): readonly string[] => POSTGRES_SCHEMAS.slice(from, version);
  const reached = Math.max(version, sentinel ?? 0);
  if (!present) return { action: "run", scripts: scripts(0), version: reached };
  switch (policy) {
    case "IfNotPresent":
      return { action: "none", version: sentinel ?? 0 };
    case "Always":
      return { action: "run", scripts: scripts(0), version: reached };
    case "BumpVersion": {
      const from = sentinel ?? 0;
      if (from > version) return { action: "refuse", version: from };
      if (from === version) return { action: "none", version };
      return { action: "run", scripts: scripts(from), version };
    }
  }
}
