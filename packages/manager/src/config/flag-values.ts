/** Texts of flags with where they came from, and readers that turn them into values or into a helpful error. */
import {
  ConfigurationError,
  type NumberLimits,
  parseBoolean,
  parseDurationFrom,
  parseNamespaces,
  parseNumber,
  parseOneOf,
  splitList,
} from "@quartet/core";
import { type ListenAddress, parseAddress } from "./address.ts";

/** Text of a flag and the place where it was found, for messages. */
export interface FlagText {
  readonly text: string;
  /** `--name`, `QUARTET_NAME`, `path in FILE`, or `default of --name`. */
  readonly origin: string;
}

/** Readers by flag name. Each throws `ConfigurationError` that names the origin, the value and the remedy. */
export interface FlagValues {
  /** Where the value of a flag came from. */
  origin(name: string): string;
  /** Reads with a function whose error message says what is wrong with the text. */
  read<T>(name: string, parse: (text: string) => T): T;
  string(name: string): string;
  boolean(name: string): boolean;
  /** A finite number; `integer` demands a whole one, `min` is the lowest allowed, `max` the highest. */
  number(name: string, limits?: NumberLimits): number;
  /** Milliseconds. `min` is the lowest allowed. */
  duration(name: string, limits?: { min?: number }): number;
  address(name: string): ListenAddress | undefined;
  list(name: string): string[];
  /** A list of namespaces, each once. */
  namespaces(name: string): string[];
  oneOf<const T extends string>(name: string, allowed: readonly T[]): T;
}

/** Readers over the texts of all flags. */
export function flagValues(texts: ReadonlyMap<string, FlagText>): FlagValues {
  const textOf = (name: string): FlagText => {
    const found = texts.get(name);
    if (found === undefined) throw new Error(`flag --${name} is not declared`);
    return found;
  };
  const read = <T>(name: string, parse: (text: string) => T): T => {
    const { text, origin } = textOf(name);
    try {
      return parse(text);
    } catch (error) {
      throw new ConfigurationError(`${origin}: ${(error as Error).message}`);
    }
  };
  return {
    origin: (name) => textOf(name).origin,
    read,
    string: (name) => textOf(name).text,
    boolean: (name) => read(name, parseBoolean),
    number: (name, limits) => read(name, (text) => parseNumber(text, limits ?? {})),
    duration: (name, limits) => read(name, (text) => parseDurationFrom(text, limits?.min)),
    address: (name) => read(name, parseAddress),
    list: (name) => splitList(textOf(name).text),
    namespaces: (name) => read(name, parseNamespaces),
    oneOf: (name, allowed) => read(name, (text) => parseOneOf(text, allowed)),
  };
}
