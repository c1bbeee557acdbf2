/** What this program is; the bundler fills both in. */
declare const CONFD_VERSION: string | undefined;
declare const CONFD_COMMIT: string | undefined;

/** Version of the program; `0.0.0-dev` when it runs from source. */
export const VERSION: string = typeof CONFD_VERSION === "string" ? CONFD_VERSION : "0.0.0-dev";
/** Commit that it was built from, or `unknown`. */
export const COMMIT: string = typeof CONFD_COMMIT === "string" ? CONFD_COMMIT : "unknown";
