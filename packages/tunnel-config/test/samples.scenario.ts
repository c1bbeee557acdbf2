/** The samples and the documents of the guide can be applied as they stand. */
import { readdirSync, readFileSync } from "node:fs";
import { gatewayCrds, installCrds } from "@quartet/testing";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Loose, openStage } from "./support/stage.ts";

const SAMPLES = new URL("../../../samples/tunnel/", import.meta.url);
const GUIDE = new URL("../../../docs/guides/tunnel.md", import.meta.url);

const read = (text: string): Loose[] => parseAllDocuments(text).map((document) => document.toJS());
const documents: [where: string, object: Loose][] = [
  ...readdirSync(SAMPLES).flatMap((file) =>
    read(readFileSync(new URL(file, SAMPLES), "utf8")).map((object): [string, Loose] => [file, object]),
  ),
  ...[...readFileSync(GUIDE, "utf8").matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, text]) =>
    read(text ?? "").map((object): [string, Loose] => ["guide", object]),
  ),
];

it("TUN-007 samples and guide are taken by the API server without a warning", async () => {
  const stage = await openStage();
  try {
    expect(documents.length).toBeGreaterThan(8);
    await installCrds(stage.client, gatewayCrds());
    for (const [where, object] of documents) {
      const { code, body } = await stage.dryRun(object);
      expect([where, object.kind, object.metadata.name, code, code === 201 ? "" : body]).toEqual([
        where,
        object.kind,
        object.metadata.name,
        201,
        "",
      ]);
    }
  } finally {
    await stage.close();
  }
});
