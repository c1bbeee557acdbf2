/** `quartet tars preflight`: what stands in the way of taking over a cluster from K8SFramework. */
import {
  type Client,
  type CommandContext,
  type DeepReadonly,
  EXIT,
  type ExitCode,
  isNotFound,
  type Kind,
  type KubeObject,
  type ModuleCommand,
} from "@quartet/core";
import {
  CUSTOM_RESOURCE_DEFINITION,
  type CustomResourceDefinition,
  LEASE,
  type Lease,
  MUTATING_WEBHOOK_CONFIGURATION,
  STORAGE_CLASS,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from "@quartet/core/kinds";
import { serverOffences } from "../admission/validate-server.ts";
import type { TServer } from "../api.gen.ts";
import { T_SERVER } from "../kinds.ts";
import { GROUP, STORAGE_CLASS as LOCAL_CLASS } from "../labels.ts";
import { PEER_LEASES, PEER_NAMESPACE, PEER_WEBHOOKS } from "../reconcile/peer.ts";

/** A Lease that was renewed within so long ago is held, ms. */
const FRESH_MS = 30_000;
/** Versions that the shipped definitions serve; any other one in `storedVersions` keeps them from being applied. */
const SERVED: ReadonlySet<string> = new Set(["v1beta2", "v1beta3"]);

/** What was found in a cluster. */
export interface Findings {
  readonly crds: readonly DeepReadonly<CustomResourceDefinition>[];
  readonly leases: readonly DeepReadonly<Lease>[];
  /** Names of the peer's webhook configurations that are there. */
  readonly webhooks: readonly string[];
  /** `reclaimPolicy` of the class of local volumes; absent where there is no such class. */
  readonly reclaimPolicy: string | undefined;
  readonly servers: readonly DeepReadonly<TServer>[];
  /** Ms since the epoch. */
  readonly now: number;
}

/** One line of the report; what blocks makes the command fail. */
export interface Finding {
  readonly blocks: boolean;
  readonly text: string;
}

/** The report, in the order in which things should be looked at. */
export function report(found: Findings): Finding[] {
  return [
    ...found.crds.flatMap(ofDefinition),
    ...found.leases.flatMap((lease) => ofLease(lease, found.now)),
    ...found.webhooks.map((name) => ({
      blocks: true,
      text: `webhook configuration ${name} of K8SFramework is registered and refuses writes of others: delete it once its controller is stopped`,
    })),
    ...ofStorageClass(found.reclaimPolicy),
    ...found.servers.flatMap(ofServer),
  ];
}

function ofDefinition({ metadata, status }: DeepReadonly<CustomResourceDefinition>): Finding[] {
  const { name = "" } = metadata;
  const stored = (status as { storedVersions?: readonly string[] } | undefined)?.storedVersions ?? [];
  const line = { blocks: false, text: `${name}: stored versions ${stored.join(", ") || "none"}` };
  const unserved = stored.filter((version) => !SERVED.has(version));
  if (unserved.length === 0) return [line];
  const remedy = [
    `  kubectl get ${name} -A -o json | kubectl replace -f -`,
    `  kubectl patch crd ${name} --subresource=status --type=merge -p '{"status":{"storedVersions":["v1beta3"]}}'`,
  ].join("\n");
  const text = `${name}: objects may still be stored as ${unserved.join(", ")}, which is not served here; with K8SFramework still running, write them anew and drop the entry:\n${remedy}`;
  return [line, { blocks: true, text }];
}

function ofLease({ metadata, spec }: DeepReadonly<Lease>, now: number): Finding[] {
  const renewed = Date.parse(String(spec?.renewTime ?? ""));
  if (!spec?.holderIdentity || !(now - renewed < FRESH_MS)) return [];
  const text = `Lease ${metadata.namespace}/${metadata.name} is held by ${spec.holderIdentity}: the controller of K8SFramework runs; stop it`;
  return [{ blocks: true, text }];
}

/** The peer's agent never removed a folder; this one does where the class says Delete (LV-009). */
function ofStorageClass(policy: string | undefined): Finding[] {
  if (policy !== "Delete") return [];
  const text = `StorageClass ${LOCAL_CLASS}: reclaimPolicy is Delete, and with quartet tars-agent the folder of a deleted claim goes; recreate the class with Retain to keep such data`;
  return [{ blocks: false, text }];
}

function ofServer({ metadata, spec }: DeepReadonly<TServer>): Finding[] {
  const { namespace = "", name = "" } = metadata;
  return serverOffences(namespace, spec).map((problem) => ({
    blocks: false,
    text: `TServer ${namespace}/${name}: ${problem}; it can stay, but would be refused today`,
  }));
}

/** The command. */
export const PREFLIGHT: ModuleCommand = {
  words: "tars preflight",
  help: "what stands in the way of taking over from K8SFramework; exits with 1 when something does",
  run: async (context) => tell(report(await look(context)), context),
};

function tell(findings: readonly Finding[], { print }: CommandContext): ExitCode {
  for (const { blocks, text } of findings) print(`${blocks ? "BLOCKS  " : "        "}${text}\n`);
  const blocking = findings.filter(({ blocks }) => blocks).length;
  print(blocking === 0 ? "nothing stands in the way\n" : `${blocking} to be settled first\n`);
  return blocking === 0 ? EXIT.clean : EXIT.failure;
}

async function look({ client, clock, signal }: CommandContext): Promise<Findings> {
  const all = { limit: 0, signal };
  const { items } = await client.list(CUSTOM_RESOURCE_DEFINITION, all);
  const crds = items.filter(({ metadata }) => metadata.name?.endsWith(`.${GROUP}`));
  const found = await Promise.all([
    find(client, MUTATING_WEBHOOK_CONFIGURATION as Kind, PEER_WEBHOOKS.mutating),
    find(client, VALIDATING_WEBHOOK_CONFIGURATION as Kind, PEER_WEBHOOKS.validating),
  ]);
  const leases = await Promise.all(
    PEER_LEASES.map((name) => find(client, LEASE as Kind, name, PEER_NAMESPACE)),
  );
  const storage = (await find(client, STORAGE_CLASS, LOCAL_CLASS)) as { reclaimPolicy?: string } | undefined;
  const served = crds.some(({ metadata }) => metadata.name === `tservers.${GROUP}`);
  return {
    crds,
    leases: leases.filter((lease) => lease !== undefined) as Lease[],
    webhooks: found.flatMap((object) => object?.metadata.name ?? []),
    reclaimPolicy: storage === undefined ? undefined : (storage.reclaimPolicy ?? "Delete"),
    servers: served ? (await client.list(T_SERVER, all)).items : [],
    now: clock.now(),
  };
}

async function find(
  client: Client,
  kind: Kind,
  name: string,
  namespace = "",
): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
