/** Objects without what the API server assigns, and in the form that the product gives them on purpose. */
import type { Json, RecordedObject } from "@quartet/testing/replay";

const CARRY = "tars.io/Conversion.1b21b3";
/** The product's own note of when a configuration became active (TARS-M-033). */
const ACTIVATED_AT = "tars.io/ActivatedAt";
const GENERATED_ANNOTATIONS = [ACTIVATED_AT, "deprecated.daemonset.template.generation"];
const ASSIGNED = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink"];
/** Settings that the product leaves to the server (D25), and what it assigns by them. */
const UNMANAGED = ["revisionHistoryLimit", "minReadySeconds"];
const RELEASE_LABEL = "tars.io/ServerID";
const OWN_LABELS = "tars.io/";
const OWNER_VERSION = "k8s.tars.io/v1beta2";
const VERSIONLESS = new Set(["TEndpoint", "TExitedRecord"]);
/** Members that are true when they are absent. */
const TRUE_WHEN_ABSENT = new Set(["enableServiceLinks"]);

/** What of an object is compared. */
export function normalObject(object: RecordedObject, { carry }: { carry: boolean }): Json {
  const { status: _status, ...rest } = structuredClone(object) as Json;
  // Alike in all versions, and read in one of them.
  if (VERSIONLESS.has(object.kind)) delete rest.apiVersion;
  const metadata = { ...(rest.metadata as Json) };
  for (const member of ASSIGNED) delete metadata[member];
  const annotations = { ...(metadata.annotations as Json | undefined) };
  for (const name of [...GENERATED_ANNOTATIONS, ...(carry ? [] : [CARRY])]) delete annotations[name];
  if (carry && typeof annotations[CARRY] === "string") annotations[CARRY] = carried(annotations[CARRY]);
  metadata.annotations = annotations;
  if (object.kind === "PersistentVolumeClaim") delete metadata.finalizers;
  return compact({ ...rest, metadata: withOwner(metadata) }) as Json;
}

/** The carried lists; one of `null` is an empty one. */
function carried(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Owners by kind and name: their uid is nobody's choice, their version the product's (D24). */
function withOwner(metadata: Json): Json {
  const owners = metadata.ownerReferences as Json[] | undefined;
  if (owners === undefined) return metadata;
  const isTars = ({ apiVersion }: Json): boolean => String(apiVersion).startsWith("k8s.tars.io/");
  return {
    ...metadata,
    ownerReferences: owners.map((owner) => ({
      ...owner,
      uid: "UID",
      ...(isTars(owner) && { apiVersion: OWNER_VERSION }),
    })),
  };
}

/** Without members that are absent or empty to the server; empty texts and `false` are left out by the peer's types. */
function compact(value: unknown, member = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => compact(item) ?? {});
    return items.length === 0 ? undefined : items;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).flatMap(([key, inner]) => {
      if (UNMANAGED.includes(key) || key === "status") return [];
      if (key === "ownerReferences") return [[key, inner]];
      const kept = compact(key === "metadata" && isTemplateMetadata(inner) ? withOwner(inner) : inner, key);
      return kept === undefined ? [] : [[key, kept]];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
  if (value === null || value === "" || (value === false && !TRUE_WHEN_ABSENT.has(member))) return undefined;
  return value;
}

function isTemplateMetadata(value: unknown): value is Json {
  return typeof value === "object" && value !== null && "ownerReferences" in value;
}

/** A recorded object in the product's form: the decisions that hold in every case. */
export function productForm(object: RecordedObject, all: readonly RecordedObject[]): RecordedObject {
  const server = all.find(
    ({ kind, metadata }) => kind === "TServer" && metadata.name === object.metadata.name,
  );
  if (object.kind === "TServer") return withRelease(object);
  if (server === undefined) return object;
  if (object.kind === "TEndpoint") return withServerLabels(object, withRelease(server));
  if (object.kind === "StatefulSet" || object.kind === "DaemonSet") return withPorts(object, server);
  return object;
}

/** The label of the release is there in both versions, and goes with the release (TARS-M-017). */
function withRelease(object: RecordedObject): RecordedObject {
  const { release } = object.spec as { release?: { id: string } };
  const { [RELEASE_LABEL]: _old, ...labels } = (object.metadata.labels ?? {}) as Record<string, string>;
  const next = release === undefined ? labels : { ...labels, [RELEASE_LABEL]: release.id };
  return { ...object, metadata: { ...object.metadata, labels: next } };
}

/** The labels of the server, at creation as well (TARS-MAP-090). */
function withServerLabels(object: RecordedObject, server: RecordedObject): RecordedObject {
  const own = Object.entries((server.metadata.labels ?? {}) as Json).filter(([label]) =>
    label.startsWith(OWN_LABELS),
  );
  const foreign = Object.entries((object.metadata.labels ?? {}) as Json).filter(
    ([label]) => !label.startsWith(OWN_LABELS),
  );
  // The peer copies labels of others from the first update on.
  const ours = Object.keys((server.metadata.labels ?? {}) as Json);
  const kept = foreign.filter(([label]) => !ours.includes(label));
  return { ...object, metadata: { ...object.metadata, labels: Object.fromEntries([...kept, ...own]) } };
}

interface Port {
  name: string;
  port: number;
  isTcp?: boolean;
}

const PORT_NAME = /^(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/;

/** Ports of servants by their own names, in the order of the server, whether or not they are ports of the node (D8). */
function withPorts(object: RecordedObject, server: RecordedObject): RecordedObject {
  const spec = server.spec as {
    tars?: { servants?: Port[]; ports?: Port[] };
    normal?: { ports?: Port[] };
    k8s: { hostNetwork?: boolean; hostPorts?: { nameRef: string; port: number }[] };
  };
  const { tars, normal, k8s } = spec;
  const all = tars === undefined ? (normal?.ports ?? []) : [...(tars.servants ?? []), ...(tars.ports ?? [])];
  const ports = all.map(({ name, port, isTcp = true }) => {
    const lower = name.toLowerCase();
    const host = k8s.hostPorts?.find(({ nameRef }) => nameRef.toLowerCase() === lower)?.port;
    const fallback = host === undefined ? `p${port}` : `p${host}-${port}`;
    return {
      name: PORT_NAME.test(lower) ? lower : fallback,
      containerPort: port,
      protocol: isTcp ? "TCP" : "UDP",
      ...(host !== undefined && k8s.hostNetwork !== true && { hostPort: host }),
    };
  });
  const { template, ...rest } = object.spec as { template: { spec: { containers: Json[] } } };
  if (!isOwned(object)) return object;
  const containers = template.spec.containers.map((container) =>
    container.name === object.metadata.name ? { ...container, ports } : container,
  );
  return { ...object, spec: { ...rest, template: { ...template, spec: { ...template.spec, containers } } } };
}

function isOwned({ metadata }: RecordedObject): boolean {
  return ((metadata.ownerReferences ?? []) as Json[]).some(({ kind }) => kind === "TServer");
}
