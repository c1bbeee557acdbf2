/** The environment of the agent as a source: `DATABASE_HOST` is `/database/host`. */
import { bytesOf } from "@quartet/go-template";
import type { Environment } from "../config/settings.ts";
import { type Backend, belongs } from "./backend.ts";

export interface EnvBackendOptions {
  readonly environment: Environment;
  readonly warn: (message: string) => void;
}

export function createEnvBackend({ environment, warn }: EnvBackendOptions): Backend {
  return {
    label: "env",
    constant: true,
    read: async (ranges) => {
      const values = new Map<string, string>();
      const names = new Map<string, string>();
      // In byte order, so that of several variables for one key the last one holds.
      for (const name of Object.keys(environment).sort()) {
        const key = `/${bytesOf(name).toLowerCase().replaceAll("_", "/")}`;
        if (!ranges.some((range) => asks(range, bytesOf(name)))) continue;
        const other = names.get(key);
        if (other !== undefined)
          warn(`variables ${other} and ${name} are the same key ${key}: ${name} is taken`);
        names.set(key, name);
        values.set(key, bytesOf(environment[name] ?? ""));
      }
      return { values };
    },
    health: async () => {},
    close: async () => {},
  };
}

/** Whether a range asks for a variable: by its name in capitals, or for everything. */
function asks(range: string, variable: string): boolean {
  return belongs(`/${variable.replaceAll("_", "/")}`, range === "/" ? "/" : range.toUpperCase());
}
