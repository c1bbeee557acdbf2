/** Whatever request is cut off, and however often: the end is the same. */
import { type Double, startDouble } from "@quartet/testing";
import { openStage } from "@quartet/testing/stage";
import { describe, expect, it } from "vitest";
import { nacosModule } from "../src/index.ts";
import { createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";

/** The server, and whose requests faults are for. */
interface Ground {
  readonly server: Double;
  readonly namespace: string;
  readonly user: string;
}

/** Runs an installation from nothing to Running with a fault in one of the controller's requests; what is there then. */
async function run(
  fault: (ground: Ground) => void,
  then: (ground: Ground, objects: Objects) => Promise<void> = async () => {},
): Promise<object> {
  const server = await startDouble();
  const stage = await openStage({ modules: [nacosModule], server });
  const { namespace, user } = stage;
  const ground = { server, namespace, user };
  await stage.start({ flags: { "nacos-skip-node-check": true } });
  try {
    const objects = objectsOf(stage);
    fault(ground);
    await createBase(objects);
    await eventually(
      async () => expect((await objects.get("nacos", "demo")).status?.phase).toBe("Running"),
      30_000,
    );
    await then(ground, objects);
    const reached = await eventually(async () => {
      const { status } = await objects.get("nacos", "demo");
      const found = await state(objects);
      expect(found).toMatchObject({ digest: status?.configDigest });
      return found;
    });
    // Runs in different namespaces are compared.
    return JSON.parse(JSON.stringify(reached).replaceAll(namespace, "t")) as object;
  } finally {
    await stage.close();
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
      const disturbed = await run(({ server, namespace, user }) => {
        server.inject({ match: { ...match, namespace, user }, times: 1, cut });
      });
      expect(disturbed).toEqual(undisturbed);
    },
    60_000,
  );

  it("NACOS-1011: a change that no watch has told of is applied once there are watches again", async () => {
    const after = await run(
      () => {},
      async ({ server, user }, objects) => {
        const before = await state(objects);
        const match = { verb: "watch", resource: "configmaps", user };
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
    const disturbed = await run(({ server, namespace, user }) => {
      const match = { verb: "create", resource: "statefulsets", namespace, user };
      server.inject({ match, times: 2, code: 409, reason: "Conflict", message: "changed meanwhile" });
    });
    expect(disturbed).toEqual(undisturbed);
  }, 60_000);
});
