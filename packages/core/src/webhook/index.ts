/** `@quartet/core/webhook`: admission and conversion webhooks. Apart, so that managers without hooks never load it. */
export { type BoundWebhook, bindWebhooks } from "./bind.ts";
export { type CaInjection, createCaInjection } from "./ca-injection.ts";
export { type CurrentCertificates, createCertificateManager } from "./certificate-manager.ts";
export { createCa, inspectCertificate, issueServing } from "./certificates.ts";
export {
  type ConfigurationOptions,
  clientConfig,
  type WebhookTarget,
  webhookConfigurations,
} from "./configuration.ts";
export { CONVERSION_DATA_ANNOTATION, stashConversionData, takeConversionData } from "./conversion.ts";
export { followServingPair, readServingPair } from "./file-certificates.ts";
export {
  CONVERT_PATH,
  type ServingPair,
  startWebhookServer,
  type WebhookObserver,
  type WebhookServer,
} from "./server.ts";
export * from "./types.ts";
