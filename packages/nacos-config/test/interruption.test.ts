/** Whatever request is cut off, and however often: the end is the same. */
import { readFileSync } from "node:fs";
import {
  type CustomResourceDefinition,
  type Double,
  installCrds,
  startDouble,
  startMiniKubelet,
  testClient,
} from "@quartet/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startTestManager } from "./support/manager.ts";
import { createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";

const NAMESPACE = "t";
/** Who the controller logs in as: faults are for its requests alone. */
const USER = "quartet-manager";

/** Runs an installation from nothing to Running with a fault in one of the controller's requests; what is there then. */
async function run(
  fault: (server: Double) => void,
  then: (server: Double, objects: Objects) => Promise<void> = async () => {},
): Promise<object> {
  const server = await startDouble();
  const kubeconfig = await server.kubeconfig();
  const client = testClient(kubeconfig);
  const crd = readFileSync(new URL("../../../crds/nacos.io_nacos.yaml", import.meta.url), "utf8");
  await installCrds(client, [parse(crd) as CustomResourceDefinition]);
  await client.ok("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  const kubelet = await startMiniKubelet(server);
  const manager = await startTestManager({
    kubeconfig: await server.kubeconfig({ user: USER }),
    namespaces: [NAMESPACE],
    flags: { "nacos-skip-node-check": true },
  });
  try {
    const objects = objectsOf({ client, namespace: NAMESPACE });
    fault(server);
    await createBase(objects);
    await eventually(
      async () => expect((await objects.get("nacos", "demo")).status?.phase).toBe("Running"),
      30_000,
    );
    await then(server, objects);
    return await eventually(async () => {
      const { status } = await objects.get("nacos", "demo");
      const reached = await state(objects);
      expect(reached).toMatchObject({ digest: status?.configDigest });
      return reached;
    });
  } finally {
    await manager.stop();
    await kubelet.stop();
    client.close();
    await server.stop();
  }
}

async function state(objects: Objects): Promise<object> {
  const statefulSet = await objects.get("statefulsets", "demo");
  const named = (items: { metadata: { name?: string } }[]) =>
    items.map(({ metadata }) => metadata.name).sort();
  return {
    generation: statefulSet.metadata.generation,
    template: statefulSet.spec.template,
    final: (await objects.get("configmaps", "demo-final")).data,
    services: named(await objects.list("services")),
    maps: named(await objects.list("configmaps")).filter((name) => name !== "kube-root-ca.crt"),
    digest: (await objects.get("nacos", "demo")).status?.configDigest,
  };
}

describe("interrupted writes", () => {
  const faults = (["before", "after"] as const).flatMap((cut) =>
    (
      [
        { verb: "patch", resource: "nacos", subresource: "status" },
        { verb: "create", resource: "configmaps" },
        { verb: "create", resource: "statefulsets" },
        { verb: "create", resource: "services" },
      ] as const
    ).map((match) => ({ cut, match })),
  );

  it.each(faults)(
    "ends as without the fault, cut $cut the work of $match.verb $match.resource",
    async ({ cut, match }) => {
      const undisturbed = await run(() => {});
      const disturbed = await run((server) => {
        server.inject({ match: { ...match, namespace: NAMESPACE, user: USER }, times: 1, cut });
      });
      expect(disturbed).toEqual(undisturbed);
    },
    60_000,
  );

  it("NACOS-1011: a change that no watch has told of is applied once there are watches again", async () => {
    const after = await run(
      () => {},
      async (server, objects) => {
        const before = await state(objects);
        const match = { verb: "watch", resource: "configmaps", user: USER };
        const restore = server.inject({ match, code: 503, reason: "ServiceUnavailable", message: "not now" });
        server.dropWatches();
        await objects.patch("configmaps", "uc", {
          data: { "user.properties": "nacos.console.ui.enabled=false\n" },
        });
        server.expire();
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        expect(await state(objects)).toEqual(before);
        restore();
        await eventually(async () => expect(await state(objects)).toMatchObject({ generation: 2 }), 45_000);
      },
    );
    expect(after).toMatchObject({ digest: "a1c9ed99c7b3b5f4" });
  }, 90_000);

  it("NACOS-206: takes conflicts for what they are", async () => {
    const undisturbed = await run(() => {});
    const disturbed = await run((server) => {
      const match = { verb: "create", resource: "statefulsets", namespace: NAMESPACE, user: USER };
      server.inject({ match, times: 2, code: 409, reason: "Conflict", message: "changed meanwhile" });
    });
    expect(disturbed).toEqual(undisturbed);
  }, 60_000);
});
