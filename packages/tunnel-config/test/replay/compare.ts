/** Compares a state of the world with a recorded one. */
import { type Difference, differences, type Json } from "@quartet/testing/replay";
import type { TunnelCase } from "./format.ts";
import { asMap, normalConfig, normalDns, normalDocument, normalState, rulesOf } from "./normal.ts";
import type { Snapshot } from "./world.ts";

/** Warnings whose reason a rule gives; others are worded freely. */
const REASONS = new Set([
  "Deprecated",
  "ErrSpecTunnel",
  "FailedPatch",
  "ErrTunnel",
  "ErrTunnelKind",
  "FailedService",
  "ConfigError",
]);
const TUNNELS = /\/cfd_tunnel$/;
const NETWORK_OF_ROUTE = /\/teamnet\/routes\/network\/.*$/;

/** What the API server refused: step and code. */
export type Refusals = { step: number; code: number }[];

/** Zone and rules after a step. */
export function snapshotDifferences(row: TunnelCase, step: number, now: Snapshot): Difference[] {
  const expected = row.expect.snapshots?.find((entry) => entry.step === step);
  if (expected === undefined) return [];
  const at = `step ${step}: `;
  const found: Difference[] = [];
  if (Array.isArray(expected.dns)) found.push(...dnsDifferences(row, expected.dns, now, at));
  const documents = Array.isArray(expected.configMap) ? expected.configMap : [];
  // Where the peer has none though there is a tunnel, it lost it (D5).
  if (documents.length > 0) {
    const rules = documents.flatMap(rulesOf);
    found.push(...differences([...new Set(rules)].sort(), servedRules(now), `${at}document rules`));
  }
  return found;
}

/** Rules of all documents. */
function servedRules({ objects }: Snapshot): string[] {
  const texts = [...objects.values()].map(({ data }) => asMap(data)["config.json"]);
  const rules = texts.flatMap((text) => normalDocument(text)?.rules ?? []);
  return [...new Set(rules as string[])].sort();
}

/** Everything that is recorded of the end. */
export function finalDifferences(row: TunnelCase, now: Snapshot, refusals: Refusals): Difference[] {
  const { expect } = row;
  return [
    ...deniedDifferences(row, refusals),
    ...(expect.dns === undefined ? [] : dnsDifferences(row, expect.dns, now, "")),
    ...remoteDifferences(row, now),
    ...documentDifferences(row, now),
    ...stateDifferences(row, now),
    ...objectDifferences(row, now),
    ...callDifferences(row, now),
    ...eventDifferences(row, now),
  ];
}

function deniedDifferences({ expect }: TunnelCase, refusals: Refusals): Difference[] {
  const expected = (expect.denied ?? []).map(({ step, code }) => ({ step, code }));
  return differences(expected, refusals, "denied");
}

function dnsDifferences(
  row: TunnelCase,
  records: readonly unknown[],
  now: Snapshot,
  at: string,
): Difference[] {
  const kept = new Set(
    [...row.remote, ...row.steps.flatMap(({ remote }) => remote ?? [])].map(({ body }) =>
      String(asMap(body).name),
    ),
  );
  return differences(normalDns(records, kept), normalDns(now.records, kept), `${at}dns `);
}

function remoteDifferences({ expect }: TunnelCase, now: Snapshot): Difference[] {
  if (expect.remoteTunnels === undefined) return [];
  const live = new Map(now.tunnels.filter(({ deleted }) => !deleted).map((one) => [one.name, one]));
  const found: Difference[] = [];
  for (const { name, config } of expect.remoteTunnels) {
    const actual = live.get(String(name));
    live.delete(String(name));
    if (actual === undefined) found.push({ path: `remote ${name}`, expected: "present", actual: undefined });
    else found.push(...differences(normalConfig(config), normalConfig(actual.config), `remote ${name} `));
  }
  for (const name of live.keys())
    found.push({ path: `remote ${name}`, expected: undefined, actual: "present" });
  return found;
}

function documentDifferences({ expect }: TunnelCase, now: Snapshot): Difference[] {
  return (expect.configMap ?? []).flatMap(({ namespace, name, data, ownerReferences }) => {
    const actual = now.objects.get(`ConfigMap/${namespace}/${name}`);
    if (actual === undefined) return [{ path: `document ${name}`, expected: "present", actual: undefined }];
    const owners = (list: unknown): unknown =>
      (Array.isArray(list) ? list : []).map(asMap).map(({ kind, name: owner }) => ({ kind, owner }));
    const body = (object: Json): unknown => normalDocument(asMap(object.data)["config.json"]);
    return [
      ...differences(body({ data }), body(actual), "document "),
      ...differences(
        owners(ownerReferences),
        owners(asMap(actual.metadata).ownerReferences),
        "document owners ",
      ),
    ];
  });
}

/** A subject with a target needs no Service; the peer's status says otherwise, though its rules do not (TUN-413). */
function withTargets(row: TunnelCase, entry: Json): Json {
  const status = asMap(entry.status);
  if (entry.kind !== "TunnelBinding" || !Array.isArray(status.services)) return entry;
  const subjects = subjectsOf(row, String(entry.name));
  const services = status.services.map(asMap).map((service, index) => {
    const target = asMap(asMap(subjects[index]).spec).target;
    return target === undefined ? service : { ...service, target };
  });
  return { ...entry, status: { ...status, services } };
}

/** Subjects of a binding as it was written last. */
function subjectsOf({ steps }: TunnelCase, name: string): unknown[] {
  const written = steps.findLast(
    ({ object }) =>
      object?.kind === "TunnelBinding" && object.metadata.name === name && object.subjects !== undefined,
  );
  return (written?.object?.subjects as unknown[] | undefined) ?? [];
}

function stateDifferences(row: TunnelCase, now: Snapshot): Difference[] {
  return (row.expect.conditions ?? []).flatMap((entry) => {
    const { kind, name, namespace = "", absent } = entry;
    const path = `status ${kind}/${name} `;
    const actual = now.objects.get(`${kind}/${namespace}/${name}`);
    if ((actual === undefined) !== (absent === true)) {
      const word = (there: boolean): string => (there ? "present" : "absent");
      return [{ path, expected: word(absent !== true), actual: word(actual !== undefined) }];
    }
    if (actual === undefined) return [];
    const wanted = normalState(String(kind), withTargets(row, entry));
    const live = normalState(String(kind), actual);
    const both = Object.keys(wanted).map((key) => [key, live[key]]);
    const kept = kind === "Ingress" ? live : Object.fromEntries(both);
    return differences(wanted, kept, path);
  });
}

function objectDifferences({ expect }: TunnelCase, now: Snapshot): Difference[] {
  return (expect.objects ?? []).flatMap((entry) => {
    const { kind, namespace = "", name } = entry;
    const path = `objects ${kind}/${name} `;
    const actual = now.objects.get(`${kind}/${namespace}/${name}`);
    if (actual === undefined) return [{ path, expected: "present", actual: undefined }];
    const { metadata, spec, data } = actual;
    const owners = asMap(metadata).ownerReferences;
    const live: Json = {
      owners: (Array.isArray(owners) ? owners : [])
        .map(asMap)
        .map(({ kind: of, name: owner }) => `${of}/${owner}`),
      replicas: asMap(spec).replicas,
      keys: Object.keys(asMap(data)).sort(),
      spec: recordSpec(spec),
    };
    const wanted: Json = { ...entry, ...(entry.spec !== undefined && { spec: recordSpec(entry.spec) }) };
    return ["owners", "replicas", "keys", "spec"].flatMap((part) =>
      wanted[part] === undefined ? [] : differences(wanted[part], live[part], `${path}${part}`),
    );
  });
}

function recordSpec(spec: unknown): Json {
  const { type, name, content, ttl = 1, proxied = false } = asMap(spec);
  return { type, name, content, ttl, proxied };
}

/** Nothing is made twice. Tunnels that the peer made again in a race are not recorded, nor is its registry compared. */
function callDifferences({ expect }: TunnelCase, now: Snapshot): Difference[] {
  const counts: Record<string, number> = {};
  for (const { method, path, status, body } of expect.requests ?? []) {
    if (method !== "POST" || Number(status) >= 300) continue;
    if (String(asMap(body).name).startsWith("_managed.")) continue;
    const place = String(path).replace(NETWORK_OF_ROUTE, "/teamnet/routes");
    counts[place] = (counts[place] ?? 0) + 1;
  }
  const paths = [...new Set([...Object.keys(counts), ...Object.keys(now.creations)])];
  return paths
    .filter((path) => !TUNNELS.test(path) || (now.creations[path] ?? 0) > (counts[path] ?? 0))
    .flatMap((path) => differences(counts[path] ?? 0, now.creations[path] ?? 0, `calls POST ${path}`));
}

function eventDifferences(row: TunnelCase, now: Snapshot): Difference[] {
  const needless = ({ kind, name, reason }: Json): boolean =>
    kind === "TunnelBinding" &&
    reason === "FailedService" &&
    subjectsOf(row, String(name)).every((subject) => asMap(asMap(subject).spec).target !== undefined);
  const wanted = (row.expect.events ?? [])
    .filter(({ type, reason }) => type === "Warning" && REASONS.has(String(reason)))
    .filter((event) => !needless(event))
    .map(({ kind, name, reason }) => `${kind} ${name} ${reason}`);
  return [...new Set(wanted)]
    .filter((text) => !now.warnings.has(text))
    .map((text) => ({ path: `events ${text}`, expected: "told", actual: undefined }));
}
