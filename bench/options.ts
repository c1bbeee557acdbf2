/** Command lines of the benchmark and the soak run. */
import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Echos of B1 and B2. */
  readonly objects: number;
  /** Runs per subject; the table shows medians. */
  readonly runs: number;
  /** Changes of B3. */
  readonly samples: number;
  /** Numbers of pods of B4, rising. */
  readonly pods: readonly number[];
  /** Subjects on one core, the control plane on the other (needs `taskset`). */
  readonly pin: boolean;
  /** Write docs/performance.md. */
  readonly write: boolean;
  /** Folder for V8 CPU profiles of the quartet subject. */
  readonly profile?: string;
}

/** Fits into some six minutes; the full protocol is `--objects=10000 --samples=1000 --runs=5 --pin`. */
const DEFAULTS = { objects: "1000", runs: "3", samples: "100", pods: "1000,10000" };

/** Length of a soak run. */
const DEFAULT_MINUTES = "5";

export const BENCH_USAGE: string = `npm run bench -- [flags]
  --objects=N       Echos that are created and updated, default ${DEFAULTS.objects}
  --runs=N          runs per subject, default ${DEFAULTS.runs}
  --samples=N       single changes, default ${DEFAULTS.samples}
  --pods=N,N        pods in the cache, rising, default ${DEFAULTS.pods}; empty leaves B4 and B5 out
  --pin             subjects on one core, the control plane on the others (needs taskset)
  --profile=FOLDER  CPU profiles of the quartet subject
  --write           write the results into docs/performance.md`;

/** Reads the arguments; throws on an unknown one and on a number that is none. */
export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: "string", default: DEFAULTS.objects },
      runs: { type: "string", default: DEFAULTS.runs },
      samples: { type: "string", default: DEFAULTS.samples },
      pods: { type: "string", default: DEFAULTS.pods },
      pin: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      profile: { type: "string" },
    },
  });
  return {
    objects: positive("--objects", values.objects),
    runs: positive("--runs", values.runs),
    samples: positive("--samples", values.samples),
    pods: values.pods === "" ? [] : values.pods.split(",").map((text) => positive("--pods", text)),
    pin: values.pin,
    write: values.write,
    ...(values.profile !== undefined && { profile: values.profile }),
  };
}

/** What `read` makes of the command line; what it throws is told with the usage, and ends the process with code 2. */
export function orUsage<T>(usage: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: ${usage}`);
    process.exit(2);
  }
}

/** Minutes of a soak run; throws on anything else. */
export function soakMinutes(args: readonly string[]): number {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  const [minutes = DEFAULT_MINUTES, ...rest] = positionals;
  if (rest.length > 0) throw new Error(`one number of minutes is enough: ${positionals.join(" ")}`);
  return positive("MINUTES", minutes);
}

/** A whole number of at least 1; throws with the flag's name otherwise. */
export function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${flag}: "${text}" is not a whole number of at least 1`);
  }
  return value;
}
