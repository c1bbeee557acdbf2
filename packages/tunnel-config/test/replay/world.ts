/** What stands in the cluster and in the account while a case is played, with recorded names for identifiers. */
import type { CloudflareDouble } from "@quartet/testing";
import type { Json } from "@quartet/testing/replay";
import { type CaseObject, type TunnelCase, versionOf } from "./format.ts";
import { asMap } from "./normal.ts";
import { OPERATOR_NAMESPACE, type Place } from "./place.ts";

export interface Snapshot {
  /** Objects by `Kind/namespace/name`, namespace empty for kinds without. */
  readonly objects: ReadonlyMap<string, Json>;
  /** Events as `Kind name reason`. */
  readonly warnings: ReadonlySet<string>;
  readonly records: readonly Json[];
  readonly tunnels: readonly { readonly name: string; readonly deleted: boolean; readonly config: unknown }[];
  /** Objects that calls of the manager made, by path. */
  readonly creations: Readonly<Record<string, number>>;
}

/** Kinds that controllers make. */
const MADE = ["ConfigMap", "Secret", "DNSRecord", "Deployment"];
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Namespaces of a case beside that of the operator. */
export function namespacesOf({ steps }: TunnelCase): string[] {
  const names = steps.flatMap(({ object }) =>
    object === undefined
      ? []
      : object.kind === "Namespace"
        ? object.metadata.name
        : (object.metadata.namespace ?? []),
  );
  return [...new Set(names)].filter((name) => name !== OPERATOR_NAMESPACE);
}

/** Reads the world of a case; what was deleted in the account keeps its recorded name. */
export function createObserver(place: Place, row: TunnelCase) {
  const names = new Map<string, string>();
  const namespaces = [...namespacesOf(row), OPERATOR_NAMESPACE];
  const recorded = (value: Json): Json => {
    let text = JSON.stringify(value);
    for (const [id, name] of names) text = text.replaceAll(id, name.replaceAll('"', ""));
    return JSON.parse(text.replace(UUID, "<uuid>")) as Json;
  };
  const learn = (): void => {
    const { state } = place.cloudflare;
    for (const [id, { fields }] of state.tunnels) remember(names, id, `<tunnel:${fields.name}>`);
    for (const [list, word] of LISTS)
      for (const [id, { name }] of state.lists[list]) remember(names, id, `<${word}:${name}>`);
    for (const { records } of state.zones.values())
      for (const [id, { type, name }] of records) remember(names, id, `<dns:${type}:${name}>`);
  };
  return {
    /** The identifier behind `<kind:name>`; a placeholder that names nothing stays. */
    resolve(text: string): string {
      learn();
      let result = text;
      for (const [id, name] of names) result = result.replaceAll(name, id);
      return result;
    },
    async read(): Promise<Snapshot> {
      const objects = new Map<string, Json>();
      const keep = (kind: string, object: CaseObject): void => {
        const { namespace = "", name } = object.metadata;
        objects.set(`${kind}/${namespace}/${name}`, object);
      };
      for (const kind of MADE)
        for (const namespace of namespaces) {
          const collection = await place.collectionOf(kind, namespace);
          const { items } = await place.client.ok<{ items: CaseObject[] }>("GET", collection);
          for (const item of items) keep(kind, item);
        }
      for (const object of touched(row)) {
        if (MADE.includes(object.kind)) continue;
        const { code, body } = await place.client.request<CaseObject>("GET", await place.pathOf(object));
        if (code === 200) keep(object.kind, body);
      }
      learn();
      return {
        objects: new Map(
          [...objects].map(([key, object]) => [String(recorded({ key }).key), recorded(object)]),
        ),
        warnings: await warningsOf(place),
        records: [...place.cloudflare.state.zones.values()].flatMap(({ records }) =>
          [...records.values()].map((record) => recorded(record)),
        ),
        tunnels: [...place.cloudflare.state.tunnels.values()].map(({ fields, config }) => ({
          name: fields.name,
          deleted: fields.deleted_at !== null,
          config: recorded(asMap(config)),
        })),
        creations: creationsOf(place.cloudflare, place.strangers),
      };
    },
  };
}

const LISTS = [
  ["networks", "vnet"],
  ["groups", "group"],
  ["apps", "app"],
  ["rules", "rule"],
] as const;

function remember(names: Map<string, string>, id: string, name: string): void {
  if (!names.has(id)) names.set(id, name);
}

/** Objects that the steps or the expectation name. */
function touched({ steps, expect }: TunnelCase): CaseObject[] {
  const named = [
    ...steps.flatMap(({ object }) => object ?? []),
    ...(expect.conditions ?? []).map(({ kind, name, namespace }) => ({
      apiVersion: versionOf(String(kind)),
      kind: String(kind),
      metadata: { name: String(name), ...(namespace !== undefined && { namespace: String(namespace) }) },
    })),
  ];
  const byKey = new Map(
    named.map((object) => [`${object.kind}/${object.metadata.namespace}/${object.metadata.name}`, object]),
  );
  return [...byKey.values()];
}

async function warningsOf(place: Place): Promise<Set<string>> {
  const { items } = await place.client.ok<{ items: Json[] }>("GET", "/apis/events.k8s.io/v1/events");
  return new Set(
    items
      .filter(({ type }) => type === "Warning")
      .map(({ regarding, reason }) => `${asMap(regarding).kind} ${asMap(regarding).name} ${reason}`),
  );
}

function creationsOf({ requests }: CloudflareDouble, strangers: ReadonlySet<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method, path, status, credential } of requests) {
    if (method !== "POST" || strangers.has(credential) || status === 0 || status >= 300) continue;
    counts[path] = (counts[path] ?? 0) + 1;
  }
  return counts;
}
