/** `quartet tunnel release`: lets go of all objects, so that what they have in the account outlives them (TUN-1015). */
import {
  type Client,
  type CommandContext,
  EXIT,
  type ExitCode,
  isNotFound,
  type Kind,
  type KubeObject,
  type ModuleCommand,
  sleep,
} from "@quartet/core";
import { LEASE } from "@quartet/core/kinds";
import {
  CREDENTIALS_FINALIZER,
  DNS_FINALIZER,
  FINALIZER,
  LEGACY_GATEWAY_FINALIZER,
  LEGACY_INGRESS_FINALIZER,
} from "../constants.ts";
import { GATEWAY } from "../gateway-kinds.ts";
import { CLUSTER_TUNNEL, CREDENTIALS, DNS_RECORD, INGRESS, TUNNEL, TUNNEL_BINDING } from "../kinds.ts";
import { dropFinalizer } from "../reconcile/drop-finalizer.ts";
import { PEER_LEASE } from "../reconcile/peer.ts";
import { RESOURCE_FINALIZERS } from "../resources.ts";

/** A Lease that was renewed within so long ago is held, in milliseconds. */
const FRESH_MS = 30_000;
/** Time in which a manager that runs all the same would take a finalizer again, in milliseconds. */
const WATCHED_MS = 5_000;

/** Finalizers by kind, those of the peer included. */
const FINALIZERS: readonly (readonly [kind: Kind, finalizer: string])[] = [
  ...([TUNNEL, CLUSTER_TUNNEL, TUNNEL_BINDING] as readonly Kind[]).map((kind) => [kind, FINALIZER] as const),
  [DNS_RECORD as Kind, DNS_FINALIZER],
  ...RESOURCE_FINALIZERS,
  [INGRESS as Kind, LEGACY_INGRESS_FINALIZER],
  [GATEWAY as Kind, LEGACY_GATEWAY_FINALIZER],
  // Last: it keeps credentials that something names.
  [CREDENTIALS as Kind, CREDENTIALS_FINALIZER],
];

/** The command. */
export const RELEASE: ModuleCommand = {
  words: "tunnel release",
  help: "drops the finalizers of all tunnel objects, so that deleting them leaves the account as it is; stop the manager first",
  run: release,
};

async function release(context: CommandContext): Promise<ExitCode> {
  const { client, clock, print, signal } = context;
  const running = await heldLease(context);
  if (running !== undefined) {
    print(`a manager runs and would take the finalizers again: ${running}; stop it first\n`);
    return EXIT.failure;
  }
  let count = 0;
  for (const [kind, name] of FINALIZERS) {
    const found = await holding(client, kind, name);
    for (const object of found) {
      await dropFinalizer(kind, object, name, { client }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      print(`released ${kind.kind} ${nameOf(object)}\n`);
    }
    count += found.length;
  }
  if (count > 0) await sleep(clock, WATCHED_MS, signal);
  const taken = (await Promise.all(FINALIZERS.map(([kind, name]) => holding(client, kind, name)))).flat();
  if (taken.length > 0) {
    const names = taken.slice(0, 5).map((object) => `${object.kind ?? ""} ${nameOf(object)}`.trim());
    print(
      `${taken.length} have a finalizer again (${names.join(", ")}): a manager runs; stop it, and release once more\n`,
    );
    return EXIT.failure;
  }
  print(`${count} released; what they have in the account stays when they are deleted\n`);
  return EXIT.clean;
}

/** A manager that would take the finalizers again: one of ours, by the Lease that the flags name, or the peer. */
async function heldLease({ client, clock, lease }: CommandContext): Promise<string | undefined> {
  const { items } = await client.list(LEASE, { limit: 0 });
  const held = items.find(({ metadata, spec }) => {
    const age = clock.now() - Date.parse(String(spec?.renewTime ?? ""));
    return (
      [lease, PEER_LEASE].includes(metadata.name ?? "") && Boolean(spec?.holderIdentity) && age < FRESH_MS
    );
  });
  if (held === undefined) return undefined;
  return `Lease ${held.metadata.namespace}/${held.metadata.name} is held by ${held.spec?.holderIdentity}`;
}

/** Objects of a kind that have the finalizer; none where the kind is not served. */
async function holding(client: Client, kind: Kind, finalizer: string): Promise<KubeObject[]> {
  try {
    const { items } = await client.list(kind, { limit: 0, metadataOnly: true });
    return items.filter(({ metadata }) => (metadata.finalizers ?? []).includes(finalizer));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function nameOf({ metadata }: KubeObject): string {
  return [metadata.namespace, metadata.name].filter(Boolean).join("/");
}
