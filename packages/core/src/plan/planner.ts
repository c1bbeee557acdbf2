/** Plans of controllers that run dry: what each object's reconcile would change, told once and kept for `explain`. */
import { createHash } from "node:crypto";
import type { Cache } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { RunContext } from "../controller/rejections.ts";
import { apiVersionOf, type Kind, keyToString, parseKey } from "../object.ts";
import type { EventRecorder, EventTarget, Logger } from "../observe/types.ts";
import { differences } from "./difference.ts";
import { type PlannedWrite, planningClient } from "./planning-client.ts";

/** Objects whose plan is remembered, the oldest go first; a plan that was forgotten is told again. */
const MAX_KEYS = 5_000;
/** Changed fields shown per write. */
const MAX_LINES = 30;

/** A planned write as `explain` shows it. */
export interface PlanEntry {
  /** RFC 3339; when it was planned first. */
  readonly at: string;
  /** For example `apply statefulsets.apps ns/name`. */
  readonly write: string;
  /** Lines such as `~ spec.replicas: 2 -> 3`. */
  readonly changes: readonly string[];
}

/** Runs of one controller, as its reconciles report them. */
export interface PlannedRuns {
  begin(key: string): void;
  /**
   * How many runs in a row have planned the same, this one included; 0 when the run wrote nothing at all. A status that
   * would be written counts, since it never comes true either.
   * @param whole false for a run that failed: it may not have come to all of its writes
   */
  end(key: string, whole: boolean): number;
}

export interface Planner {
  /** The client with every write planned instead of made. `events` tells of plans, on the reconciled object. */
  client(controller: string, client: Client, to: { log: Logger; events: EventRecorder }): Client;
  runs(controller: string): PlannedRuns;
  /** What the last run of a key would change. */
  entries(controller: string, key: string): readonly PlanEntry[];
}

interface Plan {
  /** Writes of the running or last run; the number tells writes to one target apart. */
  now: Map<string, PlanEntry>;
  /** What was told, as a digest. */
  readonly told: Map<string, { digest: string; at: string }>;
  changed: boolean;
  /** A status would be written. */
  status: boolean;
  repeats: number;
}

/** A planner without plans. `currentRun` is the reconcile in which the calling code runs. */
export function createPlanner(options: {
  cache: Pick<Cache, "informers">;
  clock: Clock;
  currentRun: () => RunContext | undefined;
}): Planner {
  const { cache, clock, currentRun } = options;
  const plans = new Map<string, Plan>();
  const idOf = (controller: string, key: string): string => `${controller}\n${key}`;
  const planOf = (id: string): Plan => {
    const plan = plans.get(id) ?? {
      now: new Map(),
      told: new Map(),
      changed: false,
      status: false,
      repeats: 0,
    };
    plans.delete(id);
    plans.set(id, plan);
    if (plans.size > MAX_KEYS) plans.delete(plans.keys().next().value!);
    return plan;
  };

  const take = (
    controller: string,
    write: PlannedWrite,
    to: { log: Logger; events: EventRecorder },
  ): void => {
    const run = currentRun();
    if (write.quiet) {
      if (run !== undefined) planOf(idOf(controller, run.key)).status = true;
      return;
    }
    const text = describe(write);
    const { changes, digest } = changesOf(write);
    // A write of what is there already is none.
    if (write.before !== undefined && changes.length === 0) return;
    const plan = planOf(idOf(controller, run?.key ?? ""));
    const id = run === undefined ? text : numbered(plan.now, text);
    const before = plan.told.get(id);
    const at = before?.digest === digest ? before.at : new Date(clock.now()).toISOString();
    plan.now.set(id, { at, write: text, changes });
    if (before?.digest === digest) return;
    plan.told.set(id, { digest, at });
    plan.changed = true;
    const log = run?.log ?? to.log.with({ controller });
    log.info("Planned change", { write: text, changes });
    const regarding = run === undefined ? undefined : regardingOf(cache, run);
    if (regarding === undefined) return;
    const note = `would ${text}${changes.length === 0 ? "" : `: ${changes.join("; ")}`}`;
    to.events.record(regarding, {
      type: "Normal",
      reason: "PlannedChange",
      action: "DryRun",
      note,
      distinct: `${id}\n${digest}`,
    });
  };

  return {
    client: (controller, client, to) => planningClient(client, (write) => take(controller, write, to)),
    runs: (controller) => ({
      begin(key) {
        const plan = planOf(idOf(controller, key));
        plan.now = new Map();
        plan.changed = false;
        plan.status = false;
      },
      end(key, whole) {
        const plan = planOf(idOf(controller, key));
        for (const id of whole ? [...plan.told.keys()] : []) {
          if (!plan.now.has(id)) plan.changed = plan.told.delete(id);
        }
        plan.repeats = plan.now.size === 0 && !plan.status ? 0 : plan.changed ? 1 : plan.repeats + 1;
        if (plan.told.size === 0 && plan.repeats === 0) plans.delete(idOf(controller, key));
        return plan.repeats;
      },
    }),
    entries: (controller, key) => [...(plans.get(idOf(controller, key))?.now.values() ?? [])],
  };
}

function numbered(now: ReadonlyMap<string, unknown>, text: string): string {
  let count = 0;
  while (now.has(`${text}\n${count}`)) count++;
  return `${text}\n${count}`;
}

function describe({ verb, kind, key, subresource, path }: PlannedWrite): string {
  if (kind === undefined || key === undefined) return `${verb} ${path}`;
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${what} ${keyToString(key)}`;
}

function changesOf({ kind, before, after }: PlannedWrite): { changes: string[]; digest: string } {
  const found = kind === undefined || after === undefined ? [] : differences(kind, before, after);
  const digest = createHash("sha256")
    .update(JSON.stringify([before === undefined, found]))
    .digest("base64url");
  const lines = found.map(({ line }) => line);
  const rest = lines.length - MAX_LINES;
  return { changes: rest > 0 ? [...lines.slice(0, MAX_LINES), `and ${rest} more`] : lines, digest };
}

/** The reconciled object, for an event about it. */
function regardingOf(cache: Pick<Cache, "informers">, run: RunContext): EventTarget | undefined {
  const { kind } = run;
  if (kind === undefined) return undefined;
  const key = parseKey(run.key);
  const metadata = cachedMetadata(cache, kind, run.key) ?? key;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
}

function cachedMetadata(
  cache: Pick<Cache, "informers">,
  kind: Kind,
  key: string,
): EventTarget["metadata"] | undefined {
  for (const informer of cache.informers(kind)) {
    const found = informer.get(parseKey(key));
    if (found !== undefined) return found.metadata as EventTarget["metadata"];
  }
  return undefined;
}
