/** Errors of the client and the predicates that callers decide by. */

/** One entry of `details.causes` of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** JSON path of the field, for example `.spec.replicas` or `spec.containers[0].image`. */
  readonly field?: string;
}

/** `details` of a Status; `causes` is empty when the server sent none. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes: readonly StatusCause[];
}

/** What {@link ApiError} is made of. */
export interface ApiErrorInit {
  code: number;
  reason: string;
  message: string;
  details: StatusDetails;
  retryAfterSeconds: number | undefined;
  continueToken: string | undefined;
  method: string;
  path: string;
}

/** The API server's refusal of a request. `message` is the server's own text. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status code. */
  readonly code: number;
  /** Machine-readable reason such as `NotFound`; `""` when the answer was no Status. */
  readonly reason: string;
  readonly details: StatusDetails;
  /** Seconds that the server asked to wait, if it did. */
  readonly retryAfterSeconds: number | undefined;
  /** Token of an expired list with which it can go on inconsistently. */
  readonly continueToken: string | undefined;
  readonly method: string;
  /** Request path without its query. */
  readonly path: string;

  constructor(init: ApiErrorInit) {
    super(init.message);
    this.code = init.code;
    this.reason = init.reason;
    this.details = init.details;
    this.retryAfterSeconds = init.retryAfterSeconds;
    this.continueToken = init.continueToken;
    this.method = init.method;
    this.path = init.path;
  }
}

/** A request that got no (whole) answer: refused, reset, timed out. `code` is Node's, for example `ECONNRESET`. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: string;
  readonly method: string;
  readonly path: string;

  constructor(init: { code: string; message: string; method: string; path: string; cause?: unknown }) {
    super(`${init.method} ${init.path}: ${init.message}`, { cause: init.cause });
    this.code = init.code;
    this.method = init.method;
    this.path = init.path;
  }
}

/** A call that is wrong in itself; nothing was sent. */
export class InvalidRequestError extends Error {
  override readonly name = "InvalidRequestError";
}

/** The server does not serve a kind. */
export class NoMatchError extends Error {
  override readonly name = "NoMatchError";
  readonly apiVersion: string;
  readonly kind: string;

  constructor(apiVersion: string, kind: string) {
    super(`no match for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
    this.apiVersion = apiVersion;
    this.kind = kind;
  }
}

/** No usable way to reach an API server, or settings that contradict each other. Programs exit with code 2. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** Credentials that could not be obtained or renewed while running. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

const hasCause = (error: unknown, reason: string): boolean =>
  error instanceof ApiError && error.details.causes.some((cause) => cause.reason === reason);

/** 404: the object, or the kind itself, does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 404;
}

/** 409 with reason AlreadyExists: a create met an object of that name. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason === "AlreadyExists";
}

/** 409 with reason Conflict: the resource version or a precondition did not hold, or an apply met other owners. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason === "Conflict";
}

/** 422: the object broke a validation rule; see `details.causes`. */
export function isInvalid(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 422;
}

/** 403: not allowed, by RBAC or by admission. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 403;
}

/** 410 with reason Expired or Gone: the resource version or continue token is too old. */
export function isExpired(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && error.code === 410 && (error.reason === "Expired" || error.reason === "Gone")
  );
}

/** The asked resource version lies ahead of what this server has seen. */
export function isResourceVersionTooLarge(error: unknown): error is ApiError {
  return hasCause(error, "ResourceVersionTooLarge");
}

/** A create was refused since its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return hasCause(error, "NamespaceTerminating");
}
