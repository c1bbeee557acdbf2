/** `@quartet/pod-template`: pod templates, and what else a workload asks for, compared and carried as the server means them. */
export { canonicalQuantity } from "./canonical-quantity.ts";
export { carryTemplate, overLive } from "./carry.ts";
export { difference, templateDifference } from "./compare.ts";
export { defaultOf } from "./defaults.ts";
export { equalJson, isMap, itemsOf, type JsonMap, mapOf } from "./json.ts";
export { fields, type KeyOf, mergeByKey, tolerationKey, withoutTrailingSlashes } from "./keyed.ts";
export { keyOfList } from "./lists.ts";
export { isPointer } from "./pointers.ts";
export { compareQuantities, isQuantity } from "./quantity.ts";
