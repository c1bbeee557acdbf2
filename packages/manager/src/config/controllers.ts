/** Which controllers run: the value of `--controllers`. */
import { ConfigurationError, closest, didYouMean } from "@quartet/core";

/** Name and aliases of a controller, as its module declares them. */
export interface NamedController {
  readonly name: string;
  readonly aliases: readonly string[];
}

/**
 * Canonical names of the controllers that a list selects, in declaration order. An entry is `*` (all), `name`, or
 * `-name`; a list of exclusions alone means all but those. Own names win over `*`.
 */
export function selectControllers(entries: readonly string[], known: readonly NamedController[]): string[] {
  const canonical = new Map(
    known.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one.name])),
  );
  const named = new Set<string>();
  const excluded = new Set<string>();
  let all = false;
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== "")) {
    if (entry === "*") {
      all = true;
      continue;
    }
    const name = canonical.get(entry.replace(/^-/, ""));
    if (name === undefined) throw unknownController(entry, [...canonical.keys()], known);
    (entry.startsWith("-") ? excluded : named).add(name);
  }
  const both = [...named].find((name) => excluded.has(name));
  if (both !== undefined) {
    throw new ConfigurationError(
      `controllers: ${both} is both named and excluded; keep one of the two entries`,
    );
  }
  if (named.size === 0 && excluded.size > 0) all = true;
  const selected = known
    .map((one) => one.name)
    .filter((name) => named.has(name) || (all && !excluded.has(name)));
  if (selected.length === 0) {
    throw new ConfigurationError(
      `controllers: ${JSON.stringify(entries.join(","))} leaves no controller to run; known are ${list(known)}`,
    );
  }
  return selected;
}

const list = (known: readonly NamedController[]): string => known.map((one) => one.name).join(", ");

function unknownController(
  entry: string,
  names: string[],
  known: readonly NamedController[],
): ConfigurationError {
  const hint = didYouMean(closest(entry.replace(/^-/, ""), names));
  return new ConfigurationError(
    `controllers: unknown controller ${JSON.stringify(entry.replace(/^-/, ""))}; known are ${list(known)}${hint}`,
  );
}
