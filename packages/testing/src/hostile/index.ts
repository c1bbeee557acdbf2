/** `@quartet/testing/hostile`: resources that nobody expects, made from the schemas of their definitions. */
export { hostileKind } from "./resources.ts";
export * from "./sweep.ts";
