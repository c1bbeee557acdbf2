/** What of each object is kept in memory. */
import { apiVersionOf, type Kind, type KubeObject } from "../../object.ts";
import type { Logger } from "../../observe/types.ts";
import { markProjected } from "../../projected.ts";
import { deepFreeze } from "../guard.ts";
import type { Projection } from "../types.ts";
import { createInterner } from "./interner.ts";

/** `apiVersion` of objects that hold metadata only, whatever their kind. */
const META_GROUP = "meta.k8s.io/";

/** Name of a projection, by which informers are shared. */
export function projectionName(projection: Projection): string {
  return typeof projection === "string" ? projection : `transform:${projection.name}`;
}

/**
 * Makes a received object ready for the cache: kind filled in, strings shared, projection applied, frozen when `guard`
 * is set. Takes the object over; the caller must not use it any more. Throws for an object that cannot be kept, see
 * `set-aside.ts`.
 */
export function createPreparation<T extends KubeObject>(options: {
  kind: Kind<T>;
  projection: Projection<T>;
  guard: boolean;
  log: Logger;
}): (object: T) => T {
  const { kind, guard, log } = options;
  const interner = createInterner();
  const project = projector(options.projection, log);
  return (object) => {
    // What is not kept is cut first: it is neither worth interning nor does its form matter.
    const prepared = interner.intern(project(withKind(object, kind)));
    return guard ? deepFreeze(prepared) : prepared;
  };
}

function projector<T extends KubeObject>(projection: Projection<T>, log: Logger): (object: T) => T {
  if (projection === "full") return withoutManagedFields;
  if (projection === "metadata") {
    return (object) => {
      const { apiVersion, kind, metadata } = withoutManagedFields(object);
      return markProjected({ apiVersion, kind, metadata } as T);
    };
  }
  return (object) => {
    const whole = withoutManagedFields(object);
    try {
      return markProjected(projection.transform(whole));
    } catch (error) {
      log.error("transform of a cached object failed, the object is kept whole", {
        transform: projection.name,
        namespace: whole.metadata.namespace,
        name: whole.metadata.name,
        error,
      });
      return markProjected(whole);
    }
  };
}

/** `managedFields` often takes more than half of an object, and no controller reads it. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  // Not `delete`: that would turn the object into a slow and larger form.
  const { managedFields: _, ...metadata } = object.metadata;
  object.metadata = metadata;
  return object;
}

/** Metadata-only answers call every object a PartialObjectMetadata; items of lists may come without a kind. */
function withKind<T extends KubeObject>(object: T, kind: Kind<T>): T {
  if (object.kind === undefined || object.apiVersion?.startsWith(META_GROUP)) {
    object.apiVersion = apiVersionOf(kind);
    object.kind = kind.kind;
  }
  return object;
}
