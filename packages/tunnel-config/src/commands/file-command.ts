/** What commands share that make a text of a file, without a cluster. */
import { readFile } from "node:fs/promises";
import { ConfigurationError, messageOf } from "@quartet/core";
import { type Manifest, manifestsOf } from "../migration/manifests.ts";

/** The objects of a file; `-` is the standard input. */
export async function readManifests(file: string): Promise<Manifest[]> {
  const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8").catch((error: unknown) => {
    throw new ConfigurationError(`cannot read ${file}: ${messageOf(error)}`);
  });
  try {
    return manifestsOf(text);
  } catch (error) {
    throw new ConfigurationError(`${file}: ${messageOf(error)}`);
  }
}

/** Reads a call; what is wrong with it is told with the usage. */
export function callOf<T>(usage: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\nusage: ${usage}`);
  }
}

/** The one file that is named. */
export function oneFile(positionals: readonly string[]): string {
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new Error("one FILE is needed, or - for standard input");
  return file;
}
