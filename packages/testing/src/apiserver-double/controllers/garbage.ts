/** The garbage collector: dependents follow their owners, in the background, first (foreground) or never (orphan). */
import { type KubeObject, keyOf, type ObjectMeta, type OwnerReference } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import type { StoreEvent } from "../store.ts";
import { carryOut, FOREGROUND, ORPHAN, planDelete } from "../verbs/delete.ts";

/** The collector works a little later than the write that gives it reason to, ms. */
const LATER_MS = 10;

interface Place {
  collection: string;
  key: string;
}

interface Graph {
  dependents: Map<string, Map<string, Place>>;
  note(event: StoreEvent): void;
}

function placeId(place: Place): string {
  return `${place.collection}|${place.key}`;
}

/** Dependents by the uid of their owner. */
function createGraph(): Graph {
  const dependents = new Map<string, Map<string, Place>>();
  const owners = (object: KubeObject | undefined): OwnerReference[] => object?.metadata.ownerReferences ?? [];
  return {
    dependents,
    note(event) {
      const place = { collection: event.collection, key: event.key };
      for (const { uid } of owners(event.previous)) {
        const known = dependents.get(uid);
        known?.delete(placeId(place));
        if (known?.size === 0) dependents.delete(uid);
      }
      if (event.type === "DELETED") return;
      for (const { uid } of owners(event.object)) {
        const known = dependents.get(uid) ?? new Map<string, Place>();
        known.set(placeId(place), place);
        dependents.set(uid, known);
      }
    },
  };
}

/** The owner that a reference means: an object, `absent`, or `unknown` for a kind nobody serves. */
function ownerOf(
  server: Server,
  object: KubeObject,
  reference: OwnerReference,
): KubeObject | "absent" | "unknown" {
  const type = server.registry.byKind(reference.apiVersion, reference.kind);
  if (type === undefined) return "unknown";
  const namespace = type.namespaced ? object.metadata.namespace : "";
  const owner = server.store.get(type.collection, keyOf(namespace, reference.name));
  return owner?.metadata.uid === reference.uid ? owner : "absent";
}

function withMetadata(object: KubeObject, change: (metadata: ObjectMeta) => void): KubeObject {
  const metadata = { ...object.metadata };
  change(metadata);
  return { ...object, metadata };
}

function setOwners(metadata: ObjectMeta, owners: OwnerReference[]): void {
  if (owners.length === 0) delete metadata.ownerReferences;
  else metadata.ownerReferences = owners;
}

function waitsForDependents(owner: KubeObject): boolean {
  return (
    (owner.metadata.finalizers ?? []).includes(FOREGROUND) && owner.metadata.deletionTimestamp !== undefined
  );
}

interface Collector {
  server: Server;
  graph: Graph;
  /** Looks at an object a little later. */
  later(place: Place): void;
}

function dependentsOf(
  { server, graph }: Collector,
  owner: KubeObject,
): { object: KubeObject; place: Place }[] {
  const places = [...(graph.dependents.get(owner.metadata.uid ?? "")?.values() ?? [])];
  return places.flatMap((place) => {
    const object = server.store.get(place.collection, place.key);
    return object === undefined ? [] : [{ object, place }];
  });
}

function dropFinalizer(
  { server: { store } }: Collector,
  place: Place,
  object: KubeObject,
  name: string,
): void {
  const rest = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name);
  const next = withMetadata(object, (metadata) => {
    if (rest.length === 0) delete metadata.finalizers;
    else metadata.finalizers = rest;
  });
  const grace = object.metadata.deletionGracePeriodSeconds ?? 0;
  if (rest.length === 0 && grace === 0) store.remove(place.collection, place.key, next);
  else store.put(place.collection, place.key, next);
}

/** The dependents lose their reference to the owner, then the owner goes. */
function orphan(collector: Collector, place: Place, owner: KubeObject): void {
  for (const { object, place: where } of dependentsOf(collector, owner)) {
    const rest = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    const next = withMetadata(object, (metadata) => setOwners(metadata, rest));
    collector.server.store.put(where.collection, where.key, next);
  }
  dropFinalizer(collector, place, owner, ORPHAN);
}

/** The dependents go first; the owner waits for those that block it. */
function foreground(collector: Collector, place: Place, owner: KubeObject): void {
  const dependents = dependentsOf(collector, owner);
  for (const { object, place: where } of dependents) {
    if (object.metadata.deletionTimestamp === undefined) collector.later(where);
  }
  const blocking = dependents.some(({ object }) =>
    object.metadata.ownerReferences?.some(
      (reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true,
    ),
  );
  if (!blocking) dropFinalizer(collector, place, owner, FOREGROUND);
}

/** Deletes an object whose owners are gone or going; with another owner left it only forgets them. */
function collect({ server, graph }: Collector, place: Place, type: ResourceType, object: KubeObject): void {
  const owners = (object.metadata.ownerReferences ?? []).map((reference) => {
    const owner = ownerOf(server, object, reference);
    const leaving = typeof owner !== "string" && waitsForDependents(owner);
    return { reference, leaving, solid: owner !== "absent" && !leaving };
  });
  if (owners.every(({ solid }) => solid)) return;
  const rest = owners.filter(({ solid }) => solid).map(({ reference }) => reference);
  if (rest.length > 0) {
    const next = withMetadata(object, (metadata) => setOwners(metadata, rest));
    server.store.put(place.collection, place.key, next);
    return;
  }
  const hasDependents = (graph.dependents.get(object.metadata.uid ?? "")?.size ?? 0) > 0;
  const own = object.metadata.finalizers ?? [];
  const fallback = own.includes(ORPHAN) ? "Orphan" : own.includes(FOREGROUND) ? "Foreground" : "Background";
  const propagation = owners.some(({ leaving }) => leaving) && hasDependents ? "Foreground" : fallback;
  carryOut(server, type, object, planDelete(server, type, object, { propagation }));
}

function look(collector: Collector, place: Place): void {
  const { store, registry } = collector.server;
  const object = store.get(place.collection, place.key);
  const type = registry.ofCollection(place.collection);
  if (object === undefined || type === undefined) return;
  const finalizers = object.metadata.finalizers ?? [];
  if (object.metadata.deletionTimestamp === undefined) collect(collector, place, type, object);
  else if (finalizers.includes(ORPHAN)) orphan(collector, place, object);
  else if (finalizers.includes(FOREGROUND)) foreground(collector, place, object);
}

/** Owners that wait for this object. */
function waitingOwners(server: Server, object: KubeObject): Place[] {
  return (object.metadata.ownerReferences ?? []).flatMap((reference) => {
    const owner = ownerOf(server, object, reference);
    if (typeof owner === "string" || !waitsForDependents(owner)) return [];
    const { collection } = server.registry.byKind(reference.apiVersion, reference.kind)!;
    return [{ collection, key: keyOf(owner.metadata.namespace, owner.metadata.name) }];
  });
}

export function startGarbageCollector(server: Server): void {
  const graph = createGraph();
  const waiting = new Map<string, Place>();
  const later = (place: Place): void => {
    if (waiting.size === 0) {
      server.clock.after(LATER_MS, () => {
        const batch = [...waiting.values()];
        waiting.clear();
        for (const entry of batch) look(collector, entry);
      });
    }
    waiting.set(placeId(place), place);
  };
  const collector: Collector = { server, graph, later };

  server.store.subscribe("*", (event) => {
    const { metadata } = event.object;
    if (event.type === "DELETED") {
      for (const place of graph.dependents.get(metadata.uid ?? "")?.values() ?? []) later(place);
    }
    graph.note(event);
    if (event.type === "DELETED") {
      for (const place of waitingOwners(server, event.object)) later(place);
      return;
    }
    const leaves = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length > 0;
    if (leaves || metadata.ownerReferences !== undefined)
      later({ collection: event.collection, key: event.key });
  });
}
