/** The patch that a tunnel has for its Deployment. */
import { parse } from "yaml";
import { isMap } from "./document.ts";

/** Longest patch that is read, in characters. */
const MAX_PATCH = 64 * 1024;

/** The patch of the user is no patch, or makes no Deployment. */
export class DeployPatchError extends Error {
  override readonly name = "DeployPatchError";
}

/** The patch as an object; nothing when it changes nothing. Throws {@link DeployPatchError}. */
export function readPatch(text: string): Record<string, unknown> | undefined {
  const bare = text.trim();
  if (bare === "" || bare === "{}") return undefined;
  if (bare.length > MAX_PATCH)
    throw new DeployPatchError(`spec.deployPatch: longer than ${MAX_PATCH} characters`);
  let value: unknown;
  try {
    value = parse(bare, { maxAliasCount: 0 });
  } catch (error) {
    const line = (error as Error).message.split("\n", 1)[0];
    throw new DeployPatchError(`spec.deployPatch: neither JSON nor YAML: ${line}`);
  }
  if (!isMap(value)) throw new DeployPatchError("spec.deployPatch: no object; write a part of a Deployment");
  return value;
}
