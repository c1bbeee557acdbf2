/** What the manager hands to a module, and to whoever belongs to none. */
import { currentAdmission } from "../admission-context.ts";
import type { Sources } from "../cache/types.ts";
import type { Client, ClientHooks } from "../client/types.ts";
import { createControllerBuilder } from "../controller/builder.ts";
import type { ControllerDeps, Outlets } from "../controller/controller.ts";
import { runContext } from "../controller/rejections.ts";
import type { Controller } from "../controller/types.ts";
import type { FlagValues } from "../module/flags.ts";
import type { EventSink } from "../observe/events.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import type { Planner } from "../plan/planner.ts";
import { joinHooks, overlayHooks } from "./client-hooks.ts";
import type { Fence } from "./fence.ts";
import { createForeignLeases } from "./foreign-lease.ts";
import type { ManagerOptions, ModuleIdentity } from "./manager-types.ts";
import type { Manager } from "./types.ts";
import { writeBounds } from "./write-bounds.ts";
import type { WriteJournal } from "./write-journal.ts";

export interface ModuleManagerParts {
  readonly fence: Fence;
  readonly events: EventSink;
  readonly journal: WriteJournal;
  readonly planner: Planner;
  onFailure(error: unknown): void;
}

export interface ModuleManagers {
  /** What a module gets; without one, what belongs to the manager itself. */
  of(module?: ModuleIdentity, flags?: FlagValues): Omit<Manager, "add">;
  moduleOf(controller: Controller): ModuleIdentity | undefined;
}

/** Makes the managers that modules see; the names of controllers are unique over all of them. */
export function createModuleManagers(options: ManagerOptions, parts: ModuleManagerParts): ModuleManagers {
  const { cache, clock, log, metrics, features, namespaces, identity } = options;
  const sources: Sources = {
    open: (kind, informerOptions) => cache.informer(kind, informerOptions),
    close: (informer) => cache.release(informer),
  };
  const names = new Set<string>();
  const owners = new WeakMap<Controller, ModuleIdentity>();
  const foreignLease = createForeignLeases({ client: options.client, clock, identity });
  const clients = createClients(options, parts);

  const of = (module?: ModuleIdentity, flags: FlagValues = {}): Omit<Manager, "add"> => {
    const dry = module !== undefined && options.runsDry?.(module) === true;
    const outlets = (name: string, needLeaderElection: boolean): Outlets => ({
      client: clients.acting({ name, needLeaderElection, module, flags, dry }),
      events: dry ? unsentEvents(log.named("events")) : clients.events(name, needLeaderElection),
    });
    return {
      client: outlets(module?.name ?? "manager", true).client,
      sources,
      log,
      metrics,
      clock,
      features,
      namespaces,
      events: (name, needLeaderElection = true) => outlets(name, needLeaderElection).events,
      controller(name) {
        const deps: ControllerDeps = {
          cache,
          outlets: (needLeaderElection) => outlets(name, needLeaderElection),
          clock,
          log: log.named("controller"),
          features,
          optionsOf: (declared) => options.controllerOptions(module, declared),
          cacheSyncTimeoutMs: options.cacheSyncTimeoutMs,
          ...(options.controllerObserver && { observer: options.controllerObserver }),
          ...(dry && { plannedRuns: parts.planner.runs(name) }),
          ...(!options.recoverPanic && { onFatal: parts.onFailure }),
          onBuilt: (controller) => void (module && owners.set(controller, module)),
        };
        return createControllerBuilder(name, deps, names);
      },
      foreignLease,
    };
  };
  return { of, moduleOf: (controller) => owners.get(controller) };
}

/** Whose client it is. */
interface Holder {
  readonly name: string;
  readonly needLeaderElection: boolean;
  /** Absent for the manager itself, whose writes no object of a tenant leads to. */
  readonly module: ModuleIdentity | undefined;
  /** Of the module. */
  readonly flags: FlagValues;
  /** Its writes are planned only. */
  readonly dry: boolean;
}

interface Clients {
  acting(holder: Holder): Client;
  events(name: string, needLeaderElection: boolean): EventRecorder;
}

function createClients({ client, cache, log }: ManagerOptions, parts: ModuleManagerParts): Clients {
  const overlay = overlayHooks(cache);
  const under = (name: string, needLeaderElection: boolean, ...own: ClientHooks[]): Client => {
    const fence = needLeaderElection ? fenceOutsideAdmission(parts.fence) : {};
    return client.forController(name, joinHooks(...own, fence, parts.journal.hooks(name), overlay));
  };
  /** Events are sent when it suits, in the course of whatever runs at that moment: nothing bounds them. */
  const recorder = (name: string, needLeaderElection: boolean, lines?: Logger): EventRecorder =>
    parts.events.recorder(name, under(name, needLeaderElection), lines);
  return {
    acting({ name, needLeaderElection, module, flags, dry }) {
      const course = { run: () => runContext.getStore(), admission: currentAdmission };
      const bounds = module === undefined ? {} : writeBounds(module.rights, flags, course);
      const real = under(name, needLeaderElection, admissionHooks, bounds);
      // A plan has a log line of its own, with all that the event's note may have to leave out.
      return dry
        ? parts.planner.client(name, real, { log, events: recorder(name, needLeaderElection) })
        : real;
    },
    events: (name, needLeaderElection) => recorder(name, needLeaderElection, log.named("events")),
  };
}

/** Admission may be asked for a dry run: what has not declared side effects writes nothing (CORE-341). */
const admissionHooks: ClientHooks = {
  beforeWrite({ verb, kind, dryRun }) {
    if (dryRun || currentAdmission()?.mayWrite !== false) return;
    throw new Error(
      `${verb} of ${kind.plural} not sent: a webhook's handler must not write, unless it has declared side effects and the request is no dry run`,
    );
  },
};

/** Every replica answers for the API server, so what a handler may write, or asks in a dry run, passes the fence. */
function fenceOutsideAdmission({ hooks }: Fence): ClientHooks {
  return {
    beforeWrite(info) {
      const admission = currentAdmission();
      if (admission?.mayWrite === true || (admission !== undefined && info.dryRun)) return;
      hooks.beforeWrite?.(info);
    },
  };
}

/** Notes events in the log instead of sending them: what a dry run says it did has not happened. */
function unsentEvents(log: Logger): EventRecorder {
  return {
    record: (_regarding, { reason, note }) => log.debug("Event of a dry run not sent", { reason, note }),
  };
}
