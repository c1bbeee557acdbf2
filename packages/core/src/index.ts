/** `@quartet/core`: the reconcile framework that every quartet controller is built on. */
export * from "./authors.ts";
export * from "./runtime.ts";
