/** What the parts of one double share. */
import type { Admission } from "./admission/admission.ts";
import type { ServerClock } from "./clock.ts";
import type { KubeObject } from "./object.ts";
import type { Registry, WriteContext } from "./registry.ts";
import type { BuiltinSchemas, Schema } from "./schemas/schema.ts";
import type { Store } from "./store.ts";

export interface Settings {
  /** Time between two bookmarks of a busy watch, ms. */
  bookmarkMs: number;
  /** Kubernetes version that `/version` tells. */
  version: string;
  /** Rights come from Role objects; else everybody may do everything. */
  rbac: boolean;
  garbageCollection: boolean;
  /** Watches with `sendInitialEvents`. */
  watchList: boolean;
}

export interface RunningStream {
  collection: string;
  /** Ends the answer in an orderly way. */
  end(): void;
  /** Cuts the connection. */
  cut(): void;
}

export interface Server {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: ServerClock;
  readonly schemas: BuiltinSchemas;
  readonly metadataSchema: Schema;
  readonly settings: Settings;
  readonly admission: Admission;
  context(user: WriteContext["user"]): WriteContext;
  /** JSON text of a stored object, made once. */
  json(object: KubeObject): string;
  /** The same without apiVersion and kind, as items of typed lists are printed. */
  itemJson(object: KubeObject): string;
  /** Running watches. */
  readonly streams: Set<RunningStream>;
}
