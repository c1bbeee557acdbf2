/** Claims, volumes and storage classes. */

import { timestamp } from "../clock.ts";
import { childOf, defaultKey, items, record, sameJson } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { compareQuantities } from "../schemas/quantity.ts";
import { forbiddenField, required } from "../status.ts";
import { strategy } from "./base.ts";
import { defaultText } from "./pod-defaults.ts";

export function defaultClaim(claim: KubeObject): void {
  const spec = childOf(claim, "spec");
  defaultKey(spec, "volumeMode", "Filesystem");
  defaultText(childOf(claim, "status"), "phase", "Pending");
}

function addFinalizer(object: KubeObject, name: string): void {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(name)) object.metadata.finalizers = [...finalizers, name];
}

const CLAIM_IMMUTABLE =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

export const persistentVolumeClaim: Strategy = strategy({
  status: true,
  returnsDeleted: true,
  defaults: defaultClaim,
  prepareCreate(object) {
    addFinalizer(object, "kubernetes.io/pvc-protection");
    object.status = { phase: "Pending" };
  },
  validate(object) {
    const spec = record(object.spec);
    const found = [];
    if (items(spec.accessModes).length === 0) {
      found.push(required("spec.accessModes", "at least 1 access mode is required"));
    }
    if (record(record(spec.resources).requests).storage === undefined) {
      found.push(required("spec.resources[storage]"));
    }
    return found;
  },
  validateUpdate(object, old) {
    const bound = record(old.status).phase === "Bound";
    const fixed = (claim: KubeObject): unknown => {
      const { resources, volumeName: _volumeName, ...rest } = record(claim.spec);
      return bound ? rest : { ...rest, resources };
    };
    if (!sameJson(fixed(object), fixed(old))) return [forbiddenField("spec", CLAIM_IMMUTABLE)];
    const size = (claim: KubeObject): unknown =>
      record(record(record(claim.spec).resources).requests).storage;
    if (compareQuantities(size(object), size(old)) < 0) {
      return [
        forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity"),
      ];
    }
    return [];
  },
});

export const persistentVolume: Strategy = strategy({
  status: true,
  returnsDeleted: true,
  defaults(object) {
    const spec = childOf(object, "spec");
    defaultText(spec, "persistentVolumeReclaimPolicy", "Retain");
    defaultKey(spec, "volumeMode", "Filesystem");
    defaultText(childOf(object, "status"), "phase", "Pending");
    const hostPath = spec.hostPath;
    if (hostPath !== undefined) defaultKey(record(hostPath), "type", "");
  },
  prepareCreate(object, context) {
    addFinalizer(object, "kubernetes.io/pv-protection");
    object.status = { phase: "Pending", lastPhaseTransitionTime: timestamp(context.now()) };
  },
});

export const storageClass: Strategy = strategy({
  defaults(object) {
    defaultKey(object, "reclaimPolicy", "Delete");
    defaultKey(object, "volumeBindingMode", "Immediate");
  },
  validate: (object) => (object.provisioner === "" ? [required("provisioner")] : []),
});
