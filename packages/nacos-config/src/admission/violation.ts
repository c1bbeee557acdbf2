/** A fault of a resource that keeps it from being carried out. */
export interface Violation {
  /** Field, for example `spec.image`. */
  readonly path: string;
  /** Reason of the SpecValid condition. */
  readonly reason: string;
  readonly message: string;
}
