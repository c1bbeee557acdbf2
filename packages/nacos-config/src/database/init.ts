/** Brings a database to the schema that the spec asks for. */
import type { Database } from "./connection.ts";
import { DatabaseError } from "./errors.ts";
import { planSchema, type SchemaPlan, type SchemaRequest, type SchemaState } from "./plan.ts";

/** Key of the advisory lock: "nacos" as ASCII. Everybody who initialises a database takes it. */
const LOCK_KEY = "474080309107";
const SENTINEL = "nacos_schema_version";

/** State of the database afterwards. */
export interface InitResult {
  /** Version of the schema; 0 for one that somebody else made. */
  readonly version: number;
  /** Scripts have run. */
  readonly ran: boolean;
}

/**
 * Runs the scripts that are due, together with the sentinel in one transaction; several callers take turns.
 * @throws DatabaseError
 */
export async function initializeSchema(database: Database, request: SchemaRequest): Promise<InitResult> {
  await preflight(database);
  const plan = planSchema(request, (await inspect(database)).state);
  if (plan.action !== "run") return settled(plan, request);
  return database.transaction(async () => {
    await database.query(`select pg_advisory_xact_lock(${LOCK_KEY})`);
    return run(database, request);
  });
}

/** Throws when the server answers, and cannot be written to. */
export async function preflight(database: Database): Promise<void> {
  const sql =
    "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as closed";
  const [row] = await database.query<{ standby: boolean; closed: boolean }>(sql);
  if (row?.standby) throw readOnly("is a standby: spec.postgres.host must name the primary");
  if (row?.closed) throw readOnly("is read-only (transaction_read_only)");
}

function readOnly(what: string): DatabaseError {
  return new DatabaseError("DatabaseReadOnly", `the server ${what}; nothing was executed`);
}

/** With the lock held, somebody else may have done the work. */
async function run(database: Database, request: SchemaRequest): Promise<InitResult> {
  const { state, schema } = await inspect(database);
  const plan = planSchema(request, state);
  if (plan.action !== "run") return settled(plan, request);
  // New tables go where the existing ones are, not to the head of the search path.
  if (schema !== undefined) {
    await database.query("select set_config('search_path', quote_ident($1), true)", [schema]);
  }
  for (const script of plan.scripts) await database.query(script);
  await database.query(
    `create table if not exists ${SENTINEL} (version int primary key, updated_at timestamptz)`,
  );
  await database.query(
    `insert into ${SENTINEL} (version, updated_at) values ($1, now())
     on conflict (version) do update set updated_at = excluded.updated_at`,
    [plan.version],
  );
  return { version: plan.version, ran: true };
}

function settled(plan: Exclude<SchemaPlan, { action: "run" }>, { version }: SchemaRequest): InitResult {
  if (plan.action === "none") return { version: plan.version, ran: false };
  const remedy = `raise spec.pgInit.schemaVersion to ${plan.version}`;
  throw new DatabaseError(
    "SchemaNewer",
    `the database has schema ${plan.version}, newer than ${version}; ${remedy}`,
  );
}

/** Looks for the tables along the search path. */
async function inspect(database: Database): Promise<{ state: SchemaState; schema?: string }> {
  const found = await database.query<{ name: string; schema: string }>(
    `select c.relname as name, n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.oid in (to_regclass('config_info'), to_regclass($1))`,
    [SENTINEL],
  );
  const config = found.find(({ name }) => name === "config_info");
  const sentinel = found.find(({ name }) => name === SENTINEL);
  const schema = (config ?? sentinel)?.schema;
  return {
    state: { present: config !== undefined, ...(sentinel && (await sentinelVersion(database))) },
    ...(schema !== undefined && { schema }),
  };
}

async function sentinelVersion(database: Database): Promise<{ sentinel?: number }> {
  const [row] = await database.query<{ version: number | null }>(
    `select max(version) as version from ${SENTINEL}`,
  );
  return row?.version == null ? {} : { sentinel: row.version };
}
