/** What an Echo costs the API server, in requests: the figure that benchmark results are stated with. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

const ECHOES = 50;

/** Requests of the manager for its own kinds since a moment, by verb. */
async function requests(since: number): Promise<Record<string, number>> {
  const own = (await stage.requests(since)).filter(({ resource }) => /^(echoes|configmaps)$/.test(resource));
  const counts: Record<string, number> = {};
  for (const { verb, subresource } of own) {
    const what = subresource === "" ? verb : `${verb} ${subresource}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

it(`CORE-604 ${ECHOES} new Echoes and a change of each cost two writes apiece and no read`, async () => {
  const manager = await stage.start();
  await manager.ready;
  const names = Array.from({ length: ECHOES }, (_, index) => `e-${index}`);
  for (const text of ["first", "second"]) {
    const since = Date.now();
    await Promise.all(
      names.map((name) =>
        text === "first" ? echoes.create(name, { text }) : echoes.merge(name, { spec: { text } }),
      ),
    );
    for (const name of names) await echoes.ready(name);
    await eventually(async () => expect(await manager.metric("controller_runtime_active_workers")).toBe(0));
    const counts = await requests(since);
    // The real server's audit log calls an apply what it is over HTTP: a patch.
    const { apply = 0, patch = 0, "patch status": status = 0, ...others } = counts;
    expect([apply + patch, status, others]).toEqual([ECHOES, ECHOES, {}]);
  }
});
