/** The real control plane of tests, benchmarks and `npm run control-plane`. */
export * from "./assets.ts";
export * from "./attach.ts";
export type { AuditEvent, AuditOptions } from "./audit-log.ts";
export type { ComponentName, Ports } from "./components.ts";
export * from "./control-plane.ts";
export * from "./crds.ts";
export * from "./existing-cluster.ts";
export * from "./namespace.ts";
export * from "./nodes.ts";
export { type CertificateAuthority, createAuthority, type KeyPair } from "./pki.ts";
export { type PortAllocator, type PortAllocatorOptions, portAllocator } from "./ports.ts";
export type { Program } from "./programs.ts";
export { STORAGE_CLASS, startProvisioner } from "./provisioner.ts";
export { TEST_ANNOTATIONS } from "./stage.ts";
