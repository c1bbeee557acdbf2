/** A11 and A12: cleanup before an Echo disappears, with crashes and with a failing outside world. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FINALIZER } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

interface KubeEvent {
  type: string;
  reason: string;
  note: string;
  series?: { count: number };
}

const events = async (): Promise<KubeEvent[]> => {
  const path = `/apis/events.k8s.io/v1/namespaces/${stage.namespace}/events`;
  return (await stage.client.ok<{ items: KubeEvent[] }>("GET", path)).items;
};

it("core A12 CORE-305 the finalizer is on the object before the ConfigMap is written", async () => {
  await stage.start();
  await echoes.create("a", { text: "hello", finalize: true });
  await echoes.ready("a");
  const [first, second] = await stage.writes();
  expect([first, second]).toEqual(["patch echoes a", expect.stringMatching(/configmaps a-out$/)]);
  expect((await echoes.get("a"))!.metadata.finalizers).toEqual([FINALIZER]);
});

it("core A12 CORE-207 CORE-239 CORE-306 CORE-307 a cleanup that fails three times is tried again with backoff, foreign finalizers stay", async () => {
  await stage.start();
  await echoes.create("a", { text: "hello", finalize: true });
  await echoes.ready("a");
  stage.endpoint.failNext(3);
  const foreign = "example.com/foreign";
  await echoes.merge("a", { metadata: { finalizers: [FINALIZER, foreign] } });
  await echoes.remove("a");
  await eventually(async () => expect((await echoes.get("a"))!.metadata.finalizers).toEqual([foreign]));

  const { calls } = stage.endpoint;
  const patches = (await stage.requests()).filter(
    ({ verb, resource, subresource, name, code }) =>
      code < 300 && verb === "patch" && resource === "echoes" && subresource === "" && name === "a",
  );
  // One to add the finalizer, and one to remove it: after the cleanup that went well, and not before.
  expect(patches).toHaveLength(2);
  expect(patches[1]!.at).toBeGreaterThanOrEqual(calls[3]!.at);
  expect(calls.map(({ key }) => key)).toEqual(Array(4).fill(`${stage.namespace}/a`));
  const pauses = calls.slice(1).map(({ at }, index) => at - calls[index]!.at);
  for (const [index, least] of [5, 10, 20].entries()) {
    // Arrival times are whole milliseconds, so that a pause may look one shorter
    expect(pauses[index]).toBeGreaterThanOrEqual(least - 1);
  }
  await eventually(async () =>
    expect(await events()).toContainEqual(
      expect.objectContaining({
        type: "Warning",
        reason: "CleanupFailed",
        note: expect.stringContaining("answered 500"),
        // Written the second time, with the third if that came before the write: what follows is counted within the
        // process until the series ends.
        series: expect.objectContaining({
          count: expect.toSatisfy((count: number) => count === 2 || count === 3),
        }),
      }),
    ),
  );
  await echoes.merge("a", { metadata: { finalizers: null } });
  await echoes.gone("a");
  expect(calls).toHaveLength(4);
});

it("core A12 CORE-308 the annotation force-remove-finalizer skips the cleanup, with a Warning", async () => {
  await stage.start();
  await echoes.create("a", { text: "hello", finalize: true });
  await echoes.ready("a");
  await echoes.merge("a", {
    metadata: { annotations: { "quartet.io/force-remove-finalizer": FINALIZER } },
  });
  await echoes.remove("a");
  await echoes.gone("a");
  expect(stage.endpoint.calls).toEqual([]);
  await eventually(async () =>
    expect(await events()).toContainEqual(
      expect.objectContaining({ type: "Warning", reason: "CleanupSkipped" }),
    ),
  );
});

describe("core A11", () => {
  /** More than a manager sends from its start until the Echo is made, deleted and gone. */
  const REQUESTS = 20;
  /** Questions about rights come before any work, and in no fixed number. */
  const WORK = /^(?!\/apis\/authorization)/;

  it(`CORE-240 the end is the same when the process is killed with -9 after the k-th request, k = 1 to ${REQUESTS}`, async () => {
    let crashes = 0;
    for (let k = 1; k <= REQUESTS; k++) {
      const name = `a-${k}`;
      await echoes.create(name, { text: name, finalize: true });
      const { crashed, deleted } = await crashAfter(k, name);
      if (crashed) crashes++;
      const survivor = await stage.start();
      if (!deleted) {
        await echoes.ready(name);
        expect((await echoes.out(name))!.data).toEqual({ text: name });
        await echoes.remove(name);
      }
      await echoes.gone(name);
      expect(stage.endpoint.calls.map(({ key }) => key)).toContain(`${stage.namespace}/${name}`);
      await survivor.stop();
    }
    // Discovery, two watches, finalizer, ConfigMap, status and the end of the finalizer at the least
    expect(crashes).toBeGreaterThanOrEqual(7);
  }, 600_000);

  /**
   * A process whose k-th request is the last that the server hears of; then it is killed. Meanwhile the user deletes
   * the Echo as soon as it is Ready; tells whether it came to either.
   */
  async function crashAfter(k: number, name: string): Promise<{ crashed: boolean; deleted: boolean }> {
    const last = stage.proxy.add({
      path: WORK,
      fault: { kind: "cut", when: "after" },
      skip: k - 1,
      times: 1,
    });
    // What it sends before the signal reaches it is lost.
    const later = stage.proxy.add({ path: WORK, fault: { kind: "cut" }, skip: k - 1 });
    const process = await stage.spawn();
    let deleted = false;
    await eventually(async () => {
      const echo = await echoes.get(name);
      if (last.hits > 0 || echo === undefined) return;
      if (!deleted && echo.status?.conditions !== undefined) {
        deleted = true;
        await echoes.remove(name);
      }
      throw new Error("neither crashed nor done");
    });
    await process.kill();
    last.remove();
    later.remove();
    return { crashed: last.hits > 0, deleted };
  }
});
