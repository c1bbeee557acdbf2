/** A definition is not there: what does not need it goes on. */
import { tarsModule } from "@quartet/tars-tserver";
import { startDouble } from "@quartet/testing";
import { eventually, openStage } from "@quartet/testing/stage";
import { expect, it } from "vitest";
import { echoSpec } from "./support/scene.ts";

it("TARS-R-001 TARS-R-012 servers come up although nobody has defined images and accounts", async () => {
  // Definitions belong to a whole server: this one is the scenario's own.
  const server = await startDouble();
  const stage = await openStage({ modules: [tarsModule], server });
  try {
    const { client, namespace } = stage;
    for (const plural of ["timages", "taccounts"]) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.k8s.tars.io`;
      await client.ok("DELETE", path);
      await eventually(async () => expect((await client.request("GET", path)).code).toBe(404));
    }
    await stage.start();
    await client.ok("POST", `/apis/k8s.tars.io/v1beta2/namespaces/${namespace}/tservers`, {
      ...{ apiVersion: "k8s.tars.io/v1beta2", kind: "TServer", metadata: { name: "demo-echoserver" } },
      spec: echoSpec({ replicas: 0 }),
    });
    await eventually(async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/demo-echoserver`;
      expect((await client.request("GET", path)).code).toBe(200);
    });
  } finally {
    await stage.close();
    await server.stop();
  }
});
