/** Names of the API from those of the resources. */
import { isMap } from "./document.ts";

/** The value with the members of all its maps in snake_case. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [snakeCase(key), snakeCased(member)]),
  );
}

/** `sessionDuration` is `session_duration`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
