/** The client of the Cloudflare v4 API. */
export { type CloudflareApi, createApi } from "./api.ts";
export { type Budget, type CallPriority, createBudget } from "./budget.ts";
export { type ApiClient, createApiClient, DEFAULT_BASE_URL } from "./client.ts";
export { type ApiCredentials, credentialsId } from "./credentials.ts";
export { ApiError, type ApiErrorClass } from "./errors.ts";
export { createExchange } from "./exchange.ts";
