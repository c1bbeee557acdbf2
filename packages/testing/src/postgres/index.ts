/** A real PostgreSQL server for tests. */
export { findPostgres, type PostgresPrograms } from "./programs.ts";
export { type PostgresOptions, type PostgresServer, startPostgres } from "./server.ts";
