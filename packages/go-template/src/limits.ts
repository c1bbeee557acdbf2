/** What one rendering may use, so that no template stops the program that renders it. */
export interface Limits {
  /** Bytes of the rendered text. */
  readonly outputBytes: number;
  /** Nodes visited and functions called; long arguments count more. */
  readonly steps: number;
  /** Bytes of all strings that functions make. */
  readonly madeBytes: number;
  /** How deep `template` actions may call each other. */
  readonly depth: number;
}

const MIB = 1024 * 1024;

/** Far beyond any configuration file, and reached within seconds by a template that loops. */
export const DEFAULT_LIMITS: Limits = {
  outputBytes: 64 * MIB,
  steps: 5_000_000,
  madeBytes: 256 * MIB,
  depth: 1000,
};

/** Bytes of arguments that count as one more step. */
export const BYTES_PER_STEP = 1024;
