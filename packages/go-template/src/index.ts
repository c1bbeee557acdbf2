/**
 * `@quartet/go-template`: Go's text/template. Pure: no file, clock or network; what a template can reach is its data
 * and the functions that it is given.
 */
import { BUILTINS } from "./builtins.ts";
import { TemplateError } from "./errors.ts";
import { execute } from "./exec.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { parse, type Trees } from "./parse.ts";
import type { GoFunction, Value } from "./types.ts";
import { bytesOf, textOf } from "./utf8.ts";

export { BUILTINS } from "./builtins.ts";
export { LimitError, TemplateError } from "./errors.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export { shownValue, sprint, sprintf } from "./printf.ts";
export { quote } from "./quote.ts";
export * from "./types.ts";
export { bytesOf, decodeRune, encodeRune, runeCount, textOf } from "./utf8.ts";

export interface TemplateOptions {
  /** Shown in errors, e.g. the base name of the file. */
  readonly name: string;
  /** The template as a byte string ({@link bytesOf}). */
  readonly source: string;
  /** What the template may call, besides the functions of the language; one of the same name replaces it. */
  readonly functions?: Readonly<Record<string, GoFunction>>;
}

export interface RenderOptions {
  /** What dot is; nil unless given. */
  readonly data?: Value;
  /** Functions for this rendering; those of the template unless given. They must have the same names. */
  readonly functions?: Readonly<Record<string, GoFunction>>;
  readonly limits?: Partial<Limits>;
  /** Told of each text that an action prints, in contrast to the template's own text (byte strings). */
  readonly onPrint?: (text: string) => void;
}

export interface Template {
  /** Renders; the result is a byte string. Throws a {@link TemplateError} with Go's text and position. */
  render(options?: RenderOptions): string;
}

/** Parses a template; throws a {@link TemplateError} with Go's text and line. */
export function parseTemplate({ name, source, functions = {} }: TemplateOptions): Template {
  const byteName = bytesOf(name);
  const known = new Set([...BUILTINS.keys(), ...Object.keys(functions)]);
  const trees = guarded(byteName, () => parse(byteName, source, { functions: known }));
  return {
    render: ({ data, functions: own = functions, limits = {}, onPrint = () => {} } = {}) =>
      execute(data, {
        name: byteName,
        text: source,
        trees,
        functions: new Map([...BUILTINS, ...Object.entries(own)]),
        builtins: new Set([...BUILTINS.keys()].filter((builtin) => !Object.hasOwn(own, builtin))),
        limits: { ...DEFAULT_LIMITS, ...limits },
        onPrint,
      }),
  };
}

/** The parser's own bound on nesting holds long before the stack ends; this is the last one. */
function guarded(name: string, step: () => Trees): Trees {
  try {
    return step();
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateError(textOf(`template: ${name}: nested too deep`));
    throw error;
  }
}
