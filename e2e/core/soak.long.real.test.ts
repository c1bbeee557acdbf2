/** A20, shortened to what every test run can bear; `npm run soak -- 60` is the whole of it. */
import { attachControlPlane } from "@quartet/testing";
import { expect, inject, it } from "vitest";
import { violations } from "./support/drift.ts";
import { soak } from "./support/soak.ts";

const MINUTES = 2;
const CHANGES = { echoes: 400, changesPerSecond: 20 };

it(`core A20 CORE-258 ${MINUTES} minutes of changes and cuts: memory, sockets and lag stay, the cache equals a live list`, async () => {
  const server = attachControlPlane(inject("controlPlane"));
  try {
    const figures = await soak(server, { ...CHANGES, minutes: MINUTES, note: () => {} });
    expect(violations(figures), JSON.stringify({ ...figures, samples: figures.samples.at(-1) })).toEqual([]);
  } finally {
    await server.stop();
  }
}, 300_000);
