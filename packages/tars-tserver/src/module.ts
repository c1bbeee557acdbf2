/** The package as the manager sees it. */
import { type ControllerModule, defineModule, type Kind, type Manager, type Sources } from "@quartet/core";
import { agentCommand } from "./commands/agent.ts";
import { MIGRATE_STORAGE } from "./commands/migrate-storage.ts";
import { PREFLIGHT } from "./commands/preflight.ts";
import { buildControllers, type Flags, NAME, type SharedLookups } from "./controllers.ts";
import { CONVERSIONS } from "./conversion/conversions.ts";
import { FLAGS } from "./flags.ts";
import type { HookContext } from "./hooks/context.ts";
import { tarsWebhooks } from "./hooks/webhooks.ts";
import { createIdentities } from "./identity.ts";
import {
  T_ACCOUNT,
  T_CONFIG,
  T_DEPLOY,
  T_ENDPOINT,
  T_EXITED_RECORD,
  T_FRAMEWORK_CONFIG,
  T_IMAGE,
  T_SERVER,
  T_TEMPLATE,
  T_TREE,
} from "./kinds.ts";
import { createDenialCounter } from "./metrics.ts";
import { RIGHTS } from "./rights.ts";
import { type Lookups, openLookups } from "./sources.ts";

const OWN_KINDS = [
  T_SERVER,
  T_CONFIG,
  T_TEMPLATE,
  T_ACCOUNT,
  T_IMAGE,
  T_ENDPOINT,
  T_EXITED_RECORD,
  T_FRAMEWORK_CONFIG,
  T_TREE,
  T_DEPLOY,
] as readonly Kind[];

/** TARS servers with their configuration, images, accounts and nodes. */
export const tarsModule: ControllerModule = createTarsModule();

/** A module of its own; what it knows of a cluster is shared by its webhooks and controllers. */
export function createTarsModule(): ControllerModule {
  const shared = new WeakMap<Sources, SharedLookups>();
  const sharedOf = (manager: Manager): SharedLookups => {
    const known = shared.get(manager.sources) ?? shareLookups(manager);
    shared.set(manager.sources, known);
    return known;
  };
  const contexts = new WeakMap<Sources, HookContext>();
  return defineModule({
    name: NAME,
    aliases: ["tars-tserver"],
    kinds: OWN_KINDS,
    crds: OWN_KINDS.map(({ group, plural }) => `${group}_${plural}.yaml`).sort(),
    rights: RIGHTS,
    flags: FLAGS,
    conversions: CONVERSIONS,
    commands: [agentCommand(), PREFLIGHT, MIGRATE_STORAGE],
    webhooks: tarsWebhooks((manager, flags) => {
      const known = contexts.get(manager.sources) ?? contextOf(manager, flags as Flags, sharedOf(manager));
      contexts.set(manager.sources, known);
      return known;
    }),
    build: (manager, flags) => buildControllers(manager, flags, sharedOf(manager)),
  });
}

/** What all webhooks of a manager share. */
function contextOf(manager: Manager, flags: Flags, { lookups, countDenial }: SharedLookups): HookContext {
  // Marks are written by whichever replica is asked.
  const client = manager.client.forController("tars-admission");
  const { "operator-username": username, "trusted-users": trusted } = flags;
  const identities = createIdentities({ client, username, trusted });
  void identities.prepare();
  return {
    client,
    clock: manager.clock,
    lookups,
    deleteGuardMs: flags["tars-tconfig-delete-guard"],
    countDenial,
    identities,
  };
}

/** The caches of webhooks and controllers, open while the manager runs. */
function shareLookups({ sources, metrics, namespaces }: Manager): SharedLookups {
  let opened: Lookups | undefined;
  return {
    countDenial: createDenialCounter(metrics),
    async lookups(signal) {
      if (opened === undefined) throw new Error("the TARS controller has not started yet");
      await opened.synced(signal);
      return opened;
    },
    async run(signal) {
      opened = openLookups(sources, namespaces);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      opened.release();
    },
    leases: () => opened?.peerLeases(),
  };
}
