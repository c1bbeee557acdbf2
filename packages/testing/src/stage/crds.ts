/** The definitions in `crds/` that modules name. */
import { readFileSync } from "node:fs";
import type { ControllerModule } from "@quartet/core";
import { parse } from "yaml";
import type { CustomResourceDefinition } from "../control-plane/index.ts";

/** Definitions of the modules' kinds, each once. */
export function crdsOf(modules: readonly Pick<ControllerModule, "crds">[]): CustomResourceDefinition[] {
  const files = new Set(modules.flatMap(({ crds }) => crds));
  return [...files].map((file) => {
    const text = readFileSync(new URL(`../../../../crds/${file}`, import.meta.url), "utf8");
    return parse(text) as CustomResourceDefinition;
  });
}
