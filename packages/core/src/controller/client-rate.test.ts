import { afterEach, beforeEach, expect, it } from "vitest";
import { thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import { openScene, recorder, type Scene } from "./scene.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

/** A client that notes when each request was sent, in milliseconds of the scene's clock. */
function notingClient(sent: string[]): Client {
  const note =
    (verb: string) =>
    async (..._args: unknown[]) => {
      sent.push(`${verb} ${scene.clock.monotonic()}`);
      return thing("a");
    };
  const client = Object.fromEntries(
    ["get", "create", "update", "patch", "patchStatus", "apply", "delete", "raw"].map((verb) => [
      verb,
      note(verb),
    ]),
  );
  return { ...scene.server.client, ...client } as unknown as Client;
}

it("CORE-247 requests of a controller wait for its own rate, one bucket for all its reconciles; others wait for nothing", async () => {
  const sent: string[] = [];
  const others: string[] = [];
  const act = recorder(async (key, { client }) => {
    await client.get(things, key);
    await client.create(things, thing("b"));
    await client.raw("GET", "/version");
    return undefined;
  });
  const start = async (name: string, log: string[], limited: boolean): Promise<void> => {
    const outlets = () => ({ ...scene.deps.outlets(true), client: notingClient(log) });
    const builder = scene.builder(name, { outlets }).for(things);
    const controller = (limited ? builder.withClientRate(2, 1) : builder).complete(act.reconcile);
    await scene.start(controller);
    controller.enqueue({ namespace: "t", name: "x" });
    controller.enqueue({ namespace: "t", name: "y" });
    await scene.clock.flush();
  };
  await start("limited", sent, true);
  await start("free", others, false);
  expect(sent).toEqual(["get 0"]);
  expect(others).toHaveLength(6);
  await scene.clock.advance(10_000);
  expect(sent.map((line) => line.split(" ")[1])).toEqual(["0", "500", "1000", "1500", "2000", "2500"]);
});

it("CORE-247 a request that waits for the rate ends with its reconcile", async () => {
  const sent: string[] = [];
  const act = recorder(async (key, { client }) => {
    await client.get(things, key);
    await client.get(things, key);
    return undefined;
  });
  const outlets = () => ({ ...scene.deps.outlets(true), client: notingClient(sent) });
  const controller = scene
    .builder("echo", { outlets })
    .for(things)
    .withClientRate(0.001, 1)
    .withOptions({ reconcileTimeoutMs: 60_000 })
    .complete(act.reconcile);
  await scene.start(controller);
  controller.enqueue({ namespace: "t", name: "x" });
  await scene.clock.flush();
  expect(sent).toHaveLength(1);
  await scene.clock.advance(60_000);
  expect(scene.counts).toMatchObject({ timeout: 1, error: 1 });
});
