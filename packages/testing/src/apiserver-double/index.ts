/** The API server double. */
export { DOUBLE_VERSION, type Double, type DoubleOptions, startDouble } from "./double.ts";
export type { RequestFault } from "./faults.ts";
export { createPki, type Pki } from "./pki.ts";
