/** What admission finds in an object. */

export interface Violation {
  /** Field, as `spec.patches[0].patch`. */
  readonly path: string;
  /** The value's problem and the remedy. */
  readonly message: string;
  /** Cause in the API server's terms, where it is the API server that found it. */
  readonly reason?: string;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** Texts for `Warning` headers: accepted, but hardly meant. */
  readonly warnings: readonly string[];
}

/** Collects findings below a path. */
export interface Findings {
  violation(path: string, message: string, reason?: string): void;
  warning(text: string): void;
  verdict(): Verdict;
}

export function collectFindings(): Findings {
  const violations: Violation[] = [];
  const warnings: string[] = [];
  return {
    violation: (path, message, reason) =>
      void violations.push({ path, message, ...(reason !== undefined && { reason }) }),
    warning: (text) => void warnings.push(text),
    verdict: () => ({ violations, warnings }),
  };
}

/** Findings with their paths below another one. */
export function below(base: string, { violations, warnings }: Verdict): Verdict {
  return {
    violations: violations.map((one) => ({ ...one, path: joined(base, one.path) })),
    warnings: warnings.map((text) => joined(base, text)),
  };
}

/** A path, or a text that begins with one, below another path. */
export function joined(base: string, path: string): string {
  if (path === "" || base === "") return path === "" ? base : path;
  return path.startsWith("[") ? `${base}${path}` : `${base}.${path}`;
}
