/** What admission finds in an object. */

export interface Violation {
  /** Field, as `spec.patches[0].patch`. */
  readonly path: string;
  /** The value's problem and the remedy. */
  readonly message: string;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** Texts for `Warning` headers: accepted, but hardly meant. */
  readonly warnings: readonly string[];
}

/** Collects findings below a path. */
export interface Findings {
  violation(path: string, message: string): void;
  warning(text: string): void;
  verdict(): Verdict;
}

export function collectFindings(): Findings {
  const violations: Violation[] = [];
  const warnings: string[] = [];
  return {
    violation: (path, message) => void violations.push({ path, message }),
    warning: (text) => void warnings.push(text),
    verdict: () => ({ violations, warnings }),
  };
}
