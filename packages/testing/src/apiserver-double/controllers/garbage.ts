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

export function startGarbageCollector(server: Server): void {
  const { store, registry, clock } = server;
  const graph = createGraph();
  const waiting = new Map<string, Place>();

  const dependentsOf = (owner: KubeObject): [ResourceType, KubeObject, Place][] =>
    [...(graph.dependents.get(owner.metadata.uid ?? "")?.values() ?? [])].flatMap((place) => {
      const type = registry.ofCollection(place.collection);
      const object = store.get(place.collection, place.key);
      return type === undefined || object === undefined ? [] : [[type, object, place] as const as never];
    });

  const dropFinalizer = (place: Place, object: KubeObject, name: string): void => {
    const rest = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name);
    const next = withMetadata(object, (metadata) => {
      if (rest.length === 0) delete metadata.finalizers;
      else metadata.finalizers = rest;
    });
    const grace = object.metadata.deletionGracePeriodSeconds ?? 0;
    if (rest.length === 0 && grace === 0) store.remove(place.collection, place.key, next);
    else store.put(place.collection, place.key, next);
  };

  const orphan = (place: Place, owner: KubeObject): void => {
    for (const [, object, where] of dependentsOf(owner)) {
      const rest = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
      store.put(
        where.collection,
        where.key,
        withMetadata(object, (metadata) => setOwners(metadata, rest)),
      );
    }
    dropFinalizer(place, owner, ORPHAN);
  };

  const foreground = (place: Place, owner: KubeObject): void => {
    const dependents = dependentsOf(owner);
    for (const [, object, where] of dependents) {
      if (object.metadata.deletionTimestamp === undefined) later(where);
    }
    const blocking = dependents.filter(([, object]) =>
      object.metadata.ownerReferences?.some(
        (reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true,
      ),
    );
    if (blocking.length === 0) dropFinalizer(place, owner, FOREGROUND);
  };

  const collect = (place: Place, type: ResourceType, object: KubeObject): void => {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0 || object.metadata.deletionTimestamp !== undefined) return;
    const owners = references.map((reference) => ({ reference, owner: ownerOf(server, object, reference) }));
    const solid = owners.filter(
      ({ owner }) => owner === "unknown" || (owner !== "absent" && !waitsForDependents(owner)),
    );
    const leaving = owners.filter(
      ({ owner }) => owner !== "unknown" && owner !== "absent" && waitsForDependents(owner),
    );
    const dangling = owners.filter(({ owner }) => owner === "absent");
    if (dangling.length === 0 && leaving.length === 0) return;
    if (solid.length > 0) {
      const rest = solid.map(({ reference }) => reference);
      store.put(
        place.collection,
        place.key,
        withMetadata(object, (metadata) => setOwners(metadata, rest)),
      );
      return;
    }
    const hasDependents = (graph.dependents.get(object.metadata.uid ?? "")?.size ?? 0) > 0;
    const propagation = leaving.length > 0 && hasDependents ? "Foreground" : undefined;
    const own = object.metadata.finalizers ?? [];
    const fallback = own.includes(ORPHAN) ? "Orphan" : own.includes(FOREGROUND) ? "Foreground" : "Background";
    const plan = planDelete(server, type, object, { propagation: propagation ?? fallback });
    carryOut(server, type, object, plan);
  };

  const look = (place: Place): void => {
    const object = store.get(place.collection, place.key);
    const type = registry.ofCollection(place.collection);
    if (object === undefined || type === undefined) return;
    const finalizers = object.metadata.finalizers ?? [];
    if (object.metadata.deletionTimestamp !== undefined) {
      if (finalizers.includes(ORPHAN)) orphan(place, object);
      else if (finalizers.includes(FOREGROUND)) foreground(place, object);
      return;
    }
    collect(place, type, object);
  };

  const later = (place: Place): void => {
    const id = placeId(place);
    if (waiting.size === 0) {
      clock.after(LATER_MS, () => {
        const batch = [...waiting.values()];
        waiting.clear();
        for (const entry of batch) look(entry);
      });
    }
    waiting.set(id, place);
  };

  const ownersToLook = (object: KubeObject): void => {
    for (const reference of object.metadata.ownerReferences ?? []) {
      const owner = ownerOf(server, object, reference);
      if (typeof owner === "string" || !waitsForDependents(owner)) continue;
      const type = registry.byKind(reference.apiVersion, reference.kind)!;
      later({ collection: type.collection, key: keyOf(owner.metadata.namespace, owner.metadata.name) });
    }
  };

  store.subscribe("*", (event) => {
    if (event.type === "DELETED") {
      for (const place of graph.dependents.get(event.object.metadata.uid ?? "")?.values() ?? []) later(place);
    }
    graph.note(event);
    const { metadata } = event.object;
    if (event.type === "DELETED") return ownersToLook(event.object);
    const leaves = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length > 0;
    if (leaves || metadata.ownerReferences !== undefined)
      later({ collection: event.collection, key: event.key });
  });
}
