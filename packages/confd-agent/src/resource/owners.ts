/** Users and groups by name. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Limit for the name service, in milliseconds. */
const LIMIT_MS = 5000;

/** The number of a user or group: by the name service, else by the file in /etc. */
export function findId(kind: "passwd" | "group", name: string): number | undefined {
  const line = ask(kind, name) ?? linesOf(kind).find((text) => text.startsWith(`${name}:`));
  const id = Number(line?.split(":")[2]);
  return line === undefined || !Number.isInteger(id) ? undefined : id;
}

function ask(kind: string, name: string): string | undefined {
  if (name.startsWith("-")) return undefined;
  try {
    const output = execFileSync("getent", [kind, name], {
      encoding: "utf8",
      timeout: LIMIT_MS,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return output.split("\n")[0];
  } catch {
    return undefined;
  }
}

function linesOf(kind: string): string[] {
  try {
    return readFileSync(`/etc/${kind}`, "utf8").split("\n");
  } catch {
    return [];
  }
}
