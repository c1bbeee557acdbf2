/** Keeps the served types in step with the CRDs: names, Established, removal. */
import { timestamp } from "../clock.ts";
import { items, type JsonObject, record, records, sameJson, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { Server } from "../server.ts";
import { carryOut, planDelete } from "../verbs/delete.ts";
import { CLEANUP_FINALIZER } from "./strategy.ts";
import { type Converter, crdTypes } from "./type.ts";

export const CRDS = "customresourcedefinitions.apiextensions.k8s.io";
/** The real server, too, takes a moment to serve a new kind; here it is kept short, ms. */
const ESTABLISH_MS = 5;

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

function conditionsOf(server: Server, old: unknown, wanted: readonly Condition[]): JsonObject[] {
  const known = records(old);
  return wanted.map((condition) => {
    const before = known.find((entry) => entry.type === condition.type);
    const same = before !== undefined && before.status === condition.status;
    return {
      ...condition,
      lastTransitionTime: same ? before.lastTransitionTime : timestamp(server.clock.now()),
    };
  });
}

/** A name of the CRD that another kind of its group already has. */
function nameConflict(server: Server, crd: KubeObject): string | undefined {
  const names = record(record(crd.spec).names);
  const group = text(record(crd.spec).group);
  const others = server.registry
    .all()
    .filter((type) => type.group === group && type.collection !== crd.metadata.name);
  const resources = new Set(others.flatMap((type) => [type.plural, type.singular, ...type.shortNames]));
  const kinds = new Set(others.flatMap((type) => [type.kind, type.listKind]));
  for (const name of [text(names.plural), text(names.singular), ...items(names.shortNames).map(text)]) {
    if (resources.has(name)) return `"${name}" is already in use`;
  }
  for (const name of [text(names.kind), text(names.listKind)]) {
    if (kinds.has(name)) return `"${name}" is already in use`;
  }
  return undefined;
}

function statusFor(server: Server, crd: KubeObject, clash: string | undefined): JsonObject {
  const spec = record(crd.spec);
  const status = record(crd.status);
  const storage = text(records(spec.versions).find((version) => version.storage === true)?.name);
  const stored = items(status.storedVersions).map(text);
  const accepted = clash === undefined;
  const conditions: Condition[] = [
    accepted
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", reason: "PluralConflict", message: clash },
    accepted
      ? {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        }
      : {
          type: "Established",
          status: "False",
          reason: "NotAccepted",
          message: "not all names are accepted",
        },
  ];
  return {
    ...status,
    conditions: conditionsOf(server, status.conditions, conditions),
    acceptedNames: accepted ? spec.names : (status.acceptedNames ?? { plural: "", kind: "" }),
    storedVersions: stored.includes(storage) ? stored : [...stored, storage],
  };
}

/** Deletes the objects of a CRD; whether none is left. */
function emptied(server: Server, crd: KubeObject): boolean {
  const type = server.registry.custom(crd.metadata.name)[0];
  if (type !== undefined) {
    for (const object of server.store.list(type.collection)) {
      if (object.metadata.deletionTimestamp === undefined) {
        carryOut(server, type, object, planDelete(server, type, object, {}));
      }
    }
  }
  return server.store.count(crd.metadata.name) === 0;
}

/** A kind that changes or goes ends the watches that see the old one, as on the server. */
function endWatches(server: Server, collection: string): void {
  for (const stream of [...server.streams]) if (stream.collection === collection) stream.end();
}

function reconcile(
  server: Server,
  name: string,
  served: Map<string, string>,
  convert: (crd: KubeObject) => Converter,
): void {
  const { store, registry } = server;
  const crd = store.get(CRDS, keyOf("", name));
  if (crd === undefined) return;
  if (crd.metadata.deletionTimestamp !== undefined) {
    if (!emptied(server, crd)) return;
    registry.setCustom(name, []);
    store.drop(name);
    endWatches(server, name);
    const rest = (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    const { finalizers: _finalizers, ...metadata } = crd.metadata;
    const last: KubeObject = {
      ...crd,
      metadata: { ...metadata, ...(rest.length === 0 ? {} : { finalizers: rest }) },
    };
    if (rest.length === 0) store.remove(CRDS, keyOf("", name), last);
    else if ((crd.metadata.finalizers ?? []).length !== rest.length) store.put(CRDS, keyOf("", name), last);
    return;
  }
  const clash = nameConflict(server, crd);
  const state = `${crd.metadata.uid}/${crd.metadata.generation}`;
  if (clash === undefined && served.get(name) !== state) {
    served.set(name, state);
    endWatches(server, name);
    registry.setCustom(name, crdTypes(crd, { metadataSchema: server.metadataSchema, convert: convert(crd) }));
  }
  const status = statusFor(server, crd, clash);
  if (!sameJson(status, crd.status)) {
    store.put(CRDS, keyOf("", name), { ...crd, metadata: { ...crd.metadata }, status });
  }
}

/** Watches the CRDs of a double. */
export function startCrdController(server: Server, convert: (crd: KubeObject) => Converter): void {
  const waiting = new Set<string>();
  /** Which state of a CRD its kind is served in. */
  const served = new Map<string, string>();
  const later = (name: string): void => {
    if (waiting.has(name)) return;
    waiting.add(name);
    server.clock.after(ESTABLISH_MS, () => {
      waiting.delete(name);
      reconcile(server, name, served, convert);
    });
  };
  server.store.subscribe("*", (event) => {
    if (event.collection === CRDS && event.type !== "DELETED") later(event.object.metadata.name);
    // the last object of a CRD that is going away
    else if (event.type === "DELETED" && server.registry.custom(event.collection).length > 0) {
      const crd = server.store.get(CRDS, keyOf("", event.collection));
      if (crd?.metadata.deletionTimestamp !== undefined) later(event.collection);
    }
  });
}
