/** Trouble of nodes whose pods stay Ready. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { conditionOf, createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { openStage, type Stage } from "./support/stage.ts";

/** Longer than the longest time between two looks at the nodes, in milliseconds. */
const REST_MS = 25_000;
/** Far less than the ten minutes after which a resource is looked at without news. */
const SOON_MS = 90_000;

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

it("NACOS-923 NACOS-204: a node that goes down and comes back without its pod is seen, and looking costs no request", async () => {
  const nacos = stage.nacosFor("demo");
  await stage.startManager();
  await createBase(objects);
  const verified = (status: string, reason: string, withinMs = SOON_MS) =>
    eventually(async () => {
      const resource = await objects.get("nacos", "demo");
      expect(conditionOf(resource, "NodesVerified")).toMatchObject({ status, reason });
      return resource;
    }, withinMs);
  await eventually(async () => {
    const resource = await objects.get("nacos", "demo");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
    expect(resource.status?.phase).toBe("Running");
  }, SOON_MS);
  await verified("True", "Verified");
  // Trailing events of the start are out by then.
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const rest = Date.now();
  const asked = nacos.requests.length;
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  expect(await stage.cost(rest)).toEqual([]);
  expect(nacos.requests.length).toBeGreaterThan(asked);

  const [first] = nacos.members;
  nacos.behaviour.states[first!.ip] = "DOWN";
  const down = await verified("False", "NodeNotUp");
  expect(conditionOf(down, "NodesVerified").message).toContain("not up");
  delete nacos.behaviour.states[first!.ip];
  await verified("True", "Verified");
}, 400_000);
