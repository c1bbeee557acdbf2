/**
 * Writes the golden files of features that have none yet. Those that there are stay: what a revision generates is never
 * changed once released.
 *
 *     node --conditions=quartet-source packages/nacos-config/test/golden/write.ts
 */
import { existsSync, writeFileSync } from "node:fs";
import { FEATURES } from "./features.ts";
import { fileOf, generated } from "./generated.ts";

for (const name of Object.keys(FEATURES)) {
  const file = fileOf(name);
  if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(generated(name), undefined, 2)}\n`);
}
