/** A simulated Nacos installation for tests of operators. */
export * from "./cluster.ts";
export * from "./follow-pods.ts";
export * from "./types.ts";
