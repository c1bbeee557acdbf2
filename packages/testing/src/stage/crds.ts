/** The definitions in `crds/` that modules name. */
import { readFileSync } from "node:fs";
import type { ControllerModule } from "@quartet/core";
import { parse } from "yaml";
import type { ApiServer } from "../api-server.ts";
import { type CustomResourceDefinition, installCrds } from "../control-plane/index.ts";
import type { TestClient } from "../request.ts";

/** Definitions by file: parsing the large ones takes a tenth of a second. */
const parsed = new Map<string, CustomResourceDefinition>();

/** Definitions of the modules' kinds, each once. */
export function crdsOf(modules: readonly Pick<ControllerModule, "crds">[]): CustomResourceDefinition[] {
  const files = new Set(modules.flatMap(({ crds }) => crds));
  return [...files].map((file) => {
    const known = parsed.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(new URL(`../../../../crds/${file}`, import.meta.url), "utf8");
    const definition = parse(text) as CustomResourceDefinition;
    parsed.set(file, definition);
    return definition;
  });
}

/** Names of what this test file has installed, by the certificate of the control plane. */
const installed = new Map<string, Set<string>>();

/** Installs definitions; on a control plane, which test files share, those that this one has not installed yet. */
export async function installOnce(
  { target, ca }: ApiServer,
  client: TestClient,
  definitions: readonly CustomResourceDefinition[],
): Promise<void> {
  if (target === "double") return installCrds(client, definitions);
  const known = installed.get(ca) ?? new Set<string>();
  installed.set(ca, known);
  await installCrds(
    client,
    definitions.filter(({ metadata }) => !known.has(metadata.name)),
  );
  for (const { metadata } of definitions) known.add(metadata.name);
}
