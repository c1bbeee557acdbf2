/** The resources that a double serves: built-in kinds and, while their CRD exists, custom ones. */
import type { JsonObject } from "./json.ts";
import type { KubeObject } from "./object.ts";
import type { Schema } from "./schemas/schema.ts";
import type { Cause } from "./status.ts";

/** When `metadata.generation` goes up. */
export type GenerationRule =
  /** The kind has no generation. */
  | "none"
  /** The spec changed. */
  | "spec"
  /** Anything outside the metadata changed. */
  | "body";

export type NameRule = "subdomain" | "label" | "path";

/** What sets one kind apart from the others in the course of a write. */
export interface Strategy {
  status: boolean;
  generation: GenerationRule;
  name: NameRule;
  /** PUT may omit the resource version. */
  unconditionalUpdate: boolean;
  /** PUT of a missing object creates it. */
  createOnUpdate?: boolean;
  /** A delete waits for the kubelet, at most this many seconds. */
  graceSeconds?(object: KubeObject): number;
  /** A new object may bring its status along. */
  keepsNewStatus?: boolean;
  /** The answer to a delete is the object itself. */
  returnsDeleted?: boolean;
  /** Fills what the client left out; on every write, after decoding. */
  defaults?(object: KubeObject): void;
  prepareCreate?(object: KubeObject, context: WriteContext): void;
  /** Keeps what an update may not change; runs after the status was restored. */
  prepareUpdate?(object: KubeObject, old: KubeObject, context: WriteContext): void;
  validate?(object: KubeObject): Cause[];
  validateUpdate?(object: KubeObject, old: KubeObject): Cause[];
  /** Refusals that are not findings about fields, as admission plugins word them. */
  admitDelete?(object: KubeObject): void;
  /** Top-level fields other than `spec` and `status` that `/status` may not change. */
  frozenOnStatus?: readonly string[];
}

/** The rest of the server, as strategies see it. */
export interface WriteContext {
  now(): number;
  allocateClusterIp(): string;
  allocateNodePort(): number;
  user: { name: string; uid: string; groups: readonly string[] };
}

export interface Column {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  value(object: KubeObject, now: number): unknown;
}

/** The version of a custom resource that a request addresses. */
export interface CustomVersion {
  /** Drops unknown fields; their paths go to `unknown`. */
  prune(object: JsonObject, unknown: string[]): void;
  defaults(object: JsonObject): void;
  validate(object: JsonObject, old: JsonObject | undefined): Cause[];
  scale?: { specPath: string[]; statusPath: string[]; selectorPath?: string[] };
  /** Warning header of a deprecated version. */
  deprecation?: string;
}

export interface ResourceType {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  namespaced: boolean;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
  subresources: readonly string[];
  /** Collection of the store; all versions of a resource share one. */
  collection: string;
  /** Decoding of built-in kinds, server-side apply of all. */
  schema: Schema;
  strategy: Strategy;
  columns: readonly Column[];
  /** Field selectors beside metadata.name and metadata.namespace: label to value. */
  selectable: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Stored form to the form of this type and back; absent when they are the same. */
  fromStorage?(objects: readonly KubeObject[]): Promise<KubeObject[]> | KubeObject[];
  toStorage?(object: KubeObject): Promise<KubeObject> | KubeObject;
  custom?: CustomVersion;
}

export function apiVersionOf(type: Pick<ResourceType, "group" | "version">): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

export interface Registry {
  find(group: string, version: string, plural: string): ResourceType | undefined;
  byKind(apiVersion: string, kind: string): ResourceType | undefined;
  /** One type per stored collection. */
  ofCollection(collection: string): ResourceType | undefined;
  all(): ResourceType[];
  /** Versions of a group, preferred first. */
  versions(group: string): string[];
  /** Replaces the types of one CRD; an empty list removes them. */
  setCustom(crd: string, types: readonly ResourceType[]): void;
  custom(crd: string): readonly ResourceType[];
}

/** Kubernetes' order of versions: stable, beta, alpha, then by number, then others by name. */
export function compareVersions(left: string, right: string): number {
  const rank = (version: string): [number, number, number] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return [3, 0, 0];
    const stage = match[2] === undefined ? 0 : match[2] === "beta" ? 1 : 2;
    return [stage, -Number(match[1]), -Number(match[3] ?? 0)];
  };
  const a = rank(left);
  const b = rank(right);
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return left < right ? -1 : left > right ? 1 : 0;
}

export function createRegistry(builtins: readonly ResourceType[]): Registry {
  const byPath = new Map<string, ResourceType>();
  const byKind = new Map<string, ResourceType>();
  const byCollection = new Map<string, ResourceType>();
  const customs = new Map<string, readonly ResourceType[]>();
  const pathKey = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

  const add = (type: ResourceType): void => {
    byPath.set(pathKey(type.group, type.version, type.plural), type);
    byKind.set(`${apiVersionOf(type)}/${type.kind}`, type);
    if (!byCollection.has(type.collection)) byCollection.set(type.collection, type);
  };
  const remove = (type: ResourceType): void => {
    byPath.delete(pathKey(type.group, type.version, type.plural));
    byKind.delete(`${apiVersionOf(type)}/${type.kind}`);
    byCollection.delete(type.collection);
  };
  for (const type of builtins) add(type);

  const all = (): ResourceType[] => [...byPath.values()];
  return {
    find: (group, version, plural) => byPath.get(pathKey(group, version, plural)),
    byKind: (apiVersion, kind) => byKind.get(`${apiVersion}/${kind}`),
    ofCollection: (collection) => byCollection.get(collection),
    all,
    versions: (group) =>
      [
        ...new Set(
          all()
            .filter((type) => type.group === group)
            .map((type) => type.version),
        ),
      ].sort(compareVersions),
    setCustom(crd, types) {
      for (const type of customs.get(crd) ?? []) remove(type);
      customs.delete(crd);
      if (types.length > 0) customs.set(crd, types);
      for (const type of types) add(type);
    },
    custom: (crd) => customs.get(crd) ?? [],
  };
}
