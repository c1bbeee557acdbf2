/** Flags that a controller package adds to the manager's own. */

interface FlagBase {
  /** Flag name without dashes; also config-file field and, upper-cased with `QUARTET_`, environment variable. */
  readonly name: string;
  /** Text form, as it would stand on the command line. */
  readonly default: string;
  readonly help: string;
}

/** A flag such as `--nacos-resync`. Its text is judged at the start; a bad one ends the program with exit code 2. */
export type ModuleFlag = FlagBase &
  (
    | { readonly type: "string" | "boolean" }
    | { readonly type: "number"; readonly integer?: boolean; readonly min?: number; readonly max?: number }
    /** Milliseconds as a value, Go-style as a text; at least 0. */
    | { readonly type: "duration" }
    | { readonly type: "enum"; readonly values: readonly string[] }
    /** Separated by commas. */
    | { readonly type: "list"; readonly format?: "namespace" }
    /** Name of a namespace, or `""` for none. */
    | { readonly type: "namespace" }
  );

/** A flag's value as it was read. */
export type FlagValue = string | number | boolean | readonly string[];

/** Values by flag name. */
export type FlagValues = Readonly<Record<string, FlagValue>>;

type ValueOf<F extends ModuleFlag> = F extends { type: "boolean" }
  ? boolean
  : F extends { type: "number" | "duration" }
    ? number
    : F extends { type: "enum"; values: readonly (infer V extends string)[] }
      ? V
      : F extends { type: "list" }
        ? readonly string[]
        : string;

/** Values of flags that are declared `as const`, each with its type. */
export type ValuesOf<F extends readonly ModuleFlag[]> = {
  readonly [Flag in F[number] as Flag["name"]]: ValueOf<Flag>;
};

/** Holds while a flag has one of these values. */
export interface FlagCondition {
  readonly flag: string;
  readonly is: readonly (string | boolean)[];
}

/** True without a condition. */
export function holds(condition: FlagCondition | undefined, flags: FlagValues): boolean {
  if (condition === undefined) return true;
  const value = flags[condition.flag];
  if (value === undefined)
    throw new Error(`a condition names the flag --${condition.flag}, which is not declared`);
  return condition.is.some((wanted) => wanted === value);
}
