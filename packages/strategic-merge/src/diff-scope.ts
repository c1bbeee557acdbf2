/** Which part of a difference is wanted. */
export interface DiffScope {
  /** What was added or got another value. */
  changes: boolean;
  /** What is gone. */
  deletions: boolean;
}
