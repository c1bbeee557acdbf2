/** What this program is; the bundler fills both in. */
declare const QUARTET_VERSION: string | undefined;
declare const QUARTET_COMMIT: string | undefined;

/** Version of the program; `0.0.0-dev` when it runs from source. */
export const VERSION: string = typeof QUARTET_VERSION === "string" ? QUARTET_VERSION : "0.0.0-dev";
/** Commit that it was built from, or `unknown`. */
export const COMMIT: string = typeof QUARTET_COMMIT === "string" ? QUARTET_COMMIT : "unknown";
