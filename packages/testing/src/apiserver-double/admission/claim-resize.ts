/** The built-in admission plugin PersistentVolumeClaimResize. */
import type { Call } from "../call.ts";
import { record, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import { compareQuantities } from "../schemas/quantity.ts";
import type { Server } from "../server.ts";
import { forbidden } from "../status.ts";

const CLAIMS = "persistentvolumeclaims";
const STORAGE_CLASSES = "storageclasses.storage.k8s.io";
const REFUSAL =
  "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

/** Refuses a larger claim unless its StorageClass allows to expand volumes. */
export function refuseResize(server: Server, call: Call, object: KubeObject, old: KubeObject): void {
  if (call.type.collection !== CLAIMS || call.subresource !== "") return;
  if (compareQuantities(requested(object), requested(old)) <= 0) return;
  const name = text(record(old.spec).storageClassName);
  const storageClass = name === "" ? undefined : server.store.get(STORAGE_CLASSES, keyOf("", name));
  if (storageClass?.allowVolumeExpansion !== true) throw forbidden(call.type, old.metadata.name, REFUSAL);
}

function requested(claim: KubeObject): unknown {
  return record(record(record(claim.spec).resources).requests).storage;
}
