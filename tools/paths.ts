/** Where things lie in the repository. */
import { resolve } from "node:path";

/** Root folder of the repository. */
export const repository: string = resolve(import.meta.dirname, "..");
/** Folder of what test runs write; not under version control. */
export const REPORTS: string = `${repository}/reports`;
/** Report of the last full test run, read by `npm run rules`. */
export const REPORT_FILE: string = `${REPORTS}/tests.json`;
