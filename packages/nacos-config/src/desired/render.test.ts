import { describe, expect, it } from "vitest";
import { clusterOf, configMap, nacos } from "../fixtures.testkit.ts";
import { renderNacos } from "./render.ts";

const sources = [
  configMap("ic", { "internal.properties": "server.port=8848\n" }),
  configMap("uc", { "user.properties": "nacos.console.ui.enabled=true\n" }),
];
const merged = clusterOf({ internalConfigRef: { name: "ic" }, userConfigRef: { name: "uc" } });
const names = (...args: Parameters<typeof renderNacos>): string[] =>
  renderNacos(...args).objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe("rendering without a cluster", () => {
  it("NACOS-313 lists all objects, the configuration before what mounts it", () => {
    expect(names(merged, sources)).toEqual([
      "ConfigMap demo-final-config",
      "StatefulSet demo",
      "Service demo-headless",
      "Service demo-client",
    ]);
    expect(names(nacos({ config: "a=1" }), [])).toEqual([
      "ConfigMap demo",
      "StatefulSet demo",
      "Service demo",
      "Service demo-client",
    ]);
  });

  it("NACOS-702 NACOS-701 has nothing beside the nodes for a database that is there already", () => {
    const database = { type: "mysql", mysqlPassword: "x" };
    for (const resource of [nacos({ database }), nacos()]) {
      expect(names(resource, [])).toEqual(["StatefulSet demo", "Service demo", "Service demo-client"]);
      expect(JSON.stringify(renderNacos(resource, []).objects)).not.toContain("initContainers");
    }
  });

  it("NACOS-705 lists the objects that initialise a MySQL database last", () => {
    const resource = nacos({ mysqlInitImage: "mysql:8", database: { type: "mysql", mysqlPassword: "x" } });
    expect(names(resource, []).slice(-2)).toEqual([
      "ConfigMap demo-mysql-sql-init",
      "Job demo-mysql-sql-init",
    ]);
  });

  it("tells why there is nothing to list", () => {
    expect(renderNacos(merged, sources.slice(1))).toMatchObject({
      objects: [],
      problem: { reason: "SourceNotFound" },
    });
    expect(renderNacos(nacos({ image: "" }), [])).toMatchObject({
      objects: [],
      violations: [{ reason: "ImageMissing" }],
    });
    expect(renderNacos(merged, sources).notices.map(({ reason }) => reason)).toEqual(["EphemeralData"]);
  });
});
