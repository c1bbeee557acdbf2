/** The samples of the document that the controllers were made from apply as they stand (acceptance S-20). */
import { readFileSync } from "node:fs";
import type { RecordedObject } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { GROUND_MS, openTarsGround } from "./support/ground.ts";
import { APPS, openScene } from "./support/scene.ts";

const text = readFileSync(new URL("fixtures/seed.yaml", import.meta.url), "utf8");
const samples = parseAllDocuments(text).map((document) => document.toJS() as RecordedObject);

it("TARS-S-20 TARS-CRD-001 TARS-M-018 TARS-M-032 the seed's samples are accepted, and their servers have children", {
  timeout: GROUND_MS,
}, async () => {
  const ground = await openTarsGround();
  const scene = await openScene(await ground.openPlace(0));
  try {
    for (const name of ["tars.default", "tars.nodejs"]) {
      await scene.create("TTemplate", name, { spec: { content: "", parent: name } });
    }
    // A server needs its template first.
    const rank = ({ kind }: RecordedObject): number => (kind === "TTemplate" ? 0 : 1);
    const ordered = [...samples].sort((a, b) => rank(a) - rank(b));
    const warnings = new Map<string, string>();
    for (const { apiVersion, kind, metadata, ...body } of ordered) {
      const { namespace: _namespace, name, ...rest } = metadata;
      const query = "?fieldValidation=Strict";
      const answer = await scene.create(kind, name, { metadata: rest, ...body }, apiVersion, query);
      expect([answer.code, answer.message]).toEqual([201, ""]);
      warnings.set(kind, answer.warning);
    }
    expect(samples.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["TServer", "TDeploy", "TConfig"]),
    );
    expect(warnings.get("TServer")).toContain("spec.normal: removed");
    const server = await scene.get("TServer", "tars-tarsconfig");
    expect(server.spec.normal).toBeUndefined();
    const config = samples.find(({ kind }) => kind === "TConfig")!;
    const { version } = await scene.get("TConfig", config.metadata.name);
    expect(version).not.toBe(config.version);
    await eventually(async () => {
      const { spec } = await scene.get("StatefulSet", "tars-tarsconfig", APPS);
      expect(spec.replicas).toBe(1);
      expect(spec.template.spec.containers[0].image).toBe(server.spec.release.image);
      expect((await scene.get("TEndpoint", "tars-tarsconfig")).spec.release.id).toBe("v1.2.2");
    });
  } finally {
    await scene.close();
    await ground.close();
  }
});
