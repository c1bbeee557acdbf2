export { BUILT_IN, typeForKind } from "./built-in.ts";
export { StrategicMergeError, type StrategicMergeProblem } from "./errors.ts";
export type { Json, JsonMap } from "./json.ts";
export { strategicMerge } from "./merge.ts";
export type { Field, ScalarType, Shape, TypeName, TypeTable } from "./metadata.ts";
export { type OpenApiDocument, readTypes, typeNameOf } from "./openapi.ts";
export { createThreeWayPatch, createTwoWayPatch, type ThreeVersions } from "./patches.ts";
export { itemPath, memberPath } from "./path.ts";
export { dropUnknownFields, type KnownPart } from "./unknown-fields.ts";
