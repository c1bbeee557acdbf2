/** Empties a namespace that is being deleted, then lets it go. */
import { items, record } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { Server } from "../server.ts";
import { carryOut, planDelete } from "../verbs/delete.ts";

/** Pause before a terminating namespace is looked at, ms. */
const LOOK_MS = 5;

/** Deletes what the namespace holds; whether nothing is left. */
function emptied(server: Server, namespace: string): boolean {
  let left = 0;
  const seen = new Set<string>();
  for (const type of server.registry.all()) {
    if (!type.namespaced || seen.has(type.collection)) continue;
    seen.add(type.collection);
    for (const object of server.store.list(type.collection, namespace)) {
      if (object.metadata.deletionTimestamp === undefined) {
        carryOut(server, type, object, planDelete(server, type, object, { propagation: "Background" }));
      }
    }
    left += server.store.list(type.collection, namespace).length;
  }
  return left === 0;
}

function finish(server: Server, namespace: KubeObject): void {
  const key = keyOf("", namespace.metadata.name);
  const spec = record(namespace.spec);
  const rest = items(spec.finalizers).filter((name) => name !== "kubernetes");
  const done = rest.length === 0 && (namespace.metadata.finalizers ?? []).length === 0;
  if (done) server.store.remove("namespaces", key, { ...namespace, spec: {} });
  else if (rest.length < items(spec.finalizers).length) {
    server.store.put("namespaces", key, {
      ...namespace,
      metadata: { ...namespace.metadata },
      spec: rest.length === 0 ? {} : { finalizers: rest },
    });
  }
}

export function startNamespaceController(server: Server): void {
  const waiting = new Set<string>();
  const look = (name: string): void => {
    if (waiting.has(name)) return;
    waiting.add(name);
    server.clock.after(LOOK_MS, () => {
      waiting.delete(name);
      const namespace = server.store.get("namespaces", keyOf("", name));
      if (namespace?.metadata.deletionTimestamp === undefined) return;
      if (emptied(server, name)) finish(server, namespace);
    });
  };
  server.store.subscribe("*", (event) => {
    if (event.collection === "namespaces") {
      if (event.type !== "DELETED" && event.object.metadata.deletionTimestamp !== undefined) {
        look(event.object.metadata.name);
      }
      return;
    }
    const namespace = event.object.metadata.namespace;
    if (event.type !== "DELETED" || namespace === undefined) return;
    const holder = server.store.get("namespaces", keyOf("", namespace));
    if (holder?.metadata.deletionTimestamp !== undefined) look(namespace);
  });
}
