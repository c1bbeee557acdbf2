import type { Answer, Probes } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { databaseLimits } from "../database/connection.ts";
import { DatabaseError } from "../database/errors.ts";
import { hostRules } from "../database/hosts.ts";
import { nacos, passOf, secret, stored } from "../fixtures.testkit.ts";
import type { NacosStatus } from "../status/status.ts";
import { databaseStep } from "./database-step.ts";
import { createMemoryStore, type ResourceMemory } from "./memory.ts";
import type { Pass } from "./pass.ts";

const POSTGRES = { host: "pg.t.svc", database: "nacos", credentialsSecretRef: { name: "pg-login" } };
const DONE = { initialized: true, initVersion: 1, lastInitTime: "t", lastResult: "Success", lastMessage: "" };
const INITIALIZED = { version: 1, ran: true };

const databases = databaseLimits(hostRules(""));
const fresh = (): ResourceMemory => createMemoryStore().of("t/demo", "uid-demo");

/** What the database answers, and what it was asked. */
let answer: Answer<unknown> | DatabaseError;
let asked: string[];
let login: ConfigObject;
let memory: ResourceMemory;
let clock: FakeClock;
let rotating: boolean;
beforeEach(() => {
  clock = fakeClock();
  rotating = false;
  answer = { state: "ok", value: INITIALIZED, at: 0 };
  asked = [];
  login = stored(secret("pg-login", { username: "nacos", password: "p" }));
  memory = fresh();
});

const probes = {
  async probe(_resource: unknown, { fingerprint }: { fingerprint: string }) {
    asked.push(fingerprint);
    return answer instanceof DatabaseError ? { state: "failed", error: answer, at: clock.now() } : answer;
  },
  isBusy: () => rotating,
  end: () => {
    rotating = false;
  },
} as unknown as Probes;

interface Outcome extends Pick<Pass, "failures" | "reports" | "stepStatus" | "notices"> {
  readonly startable: boolean;
  readonly asking: boolean;
}

async function step(
  status: NacosStatus = {},
  { generation = 1, writes = true, spec = {} } = {},
): Promise<Outcome> {
  const resource = { ...nacos({ postgres: POSTGRES, ...spec }, { generation }), status };
  const pass = passOf(resource, login, { memory, probes, clock, databases });
  const state = await databaseStep(pass, writes);
  return { ...pass, ...state };
}

const verified = (generation: number, more: object = {}): NacosStatus => ({
  pg: { ...DONE, observedGeneration: generation, ...more },
});
const standing = (status: "True" | "False"): NacosStatus => ({
  operatorConditions: [
    { type: "DatabaseReady", status, reason: "Before", message: "m", lastTransitionTime: "t" },
  ],
});

describe("when the database is asked", () => {
  it("NACOS-715 asks for a resource without status, and not again while nothing changes", async () => {
    const first = await step();
    expect(first).toMatchObject({
      startable: true,
      failures: [],
      notices: [{ reason: "DatabaseInitialized" }],
    });
    expect(first.stepStatus.pg).toMatchObject({ initialized: true, initVersion: 1, observedGeneration: 1 });
    expect(await step({})).toMatchObject({ startable: true, notices: [], stepStatus: first.stepStatus });
    expect(asked).toHaveLength(1);
  });

  it("NACOS-211 goes by the status after a restart, unless the generation is another or the last try failed", async () => {
    const known = await step(verified(1));
    expect(known).toMatchObject({ startable: true, reports: [{ status: "True", reason: "Initialized" }] });
    expect(asked).toEqual([]);
    memory = fresh();
    await step(verified(1), { generation: 2 });
    memory = fresh();
    await step(verified(1, { lastResult: "Failed" }));
    // As the peer leaves it.
    memory = fresh();
    await step({ pg: DONE });
    expect(asked).toHaveLength(3);
  });

  it("NACOS-711 asks again for another version of a Secret, by fingerprints that hold no credential", async () => {
    await step();
    login = stored(secret("pg-login", { username: "nacos", password: "other" }), { resourceVersion: "2" });
    await step();
    expect(new Set(asked).size).toBe(2);
    expect(asked.join()).not.toMatch(/nacos|other/);
  });

  it("NACOS-723 a pass looks at the server again when the last look is five seconds old, whatever brought it about", async () => {
    await step();
    await clock.advance(4_900);
    await step(verified(1));
    expect(asked).toHaveLength(1);
    await clock.advance(100);
    const looked = await step(verified(1));
    expect(looked).toMatchObject({
      startable: true,
      asking: false,
      notices: [],
      reports: [{ status: "True" }],
    });
    expect(looked.stepStatus.pg).toMatchObject({ lastResult: "Success", observedGeneration: 1 });
    await step(verified(1));
    expect(asked).toHaveLength(2);
  });

  it("NACOS-715 opens no second connection beside a rotation, and ends a rotation of an earlier spec", async () => {
    await step();
    await clock.advance(5_000);
    rotating = true;
    expect(await step(verified(1))).toMatchObject({ startable: true, reports: [{ status: "True" }] });
    expect(asked).toHaveLength(1);
    expect(rotating).toBe(true);
    await step(verified(1), { generation: 2 });
    expect(asked).toHaveLength(2);
    expect(rotating).toBe(false);
  });

  it("NACOS-723 NACOS-203 a look that fails is told of, and every pass tries again until the server is back", async () => {
    await step();
    await clock.advance(5_000);
    answer = new DatabaseError("DatabaseUnreachable", "ECONNREFUSED");
    const down = await step(verified(1));
    expect(down).toMatchObject({
      // A StatefulSet that goes missing meanwhile is made again: its tables are there.
      startable: true,
      failures: [{ condition: "DatabaseReady", reason: "DatabaseUnreachable" }],
      stepStatus: { pg: { initialized: true, lastResult: "Failed", observedGeneration: 1 } },
    });
    // Passes that come close together repeat the finding.
    expect((await step(verified(1))).failures).toEqual(down.failures);
    expect(asked).toHaveLength(2);
    await clock.advance(5_000);
    answer = { state: "ok", value: { version: 1, ran: false }, at: 0 };
    expect(await step({ pg: down.stepStatus.pg! })).toMatchObject({
      failures: [],
      reports: [{ status: "True", reason: "Initialized" }],
      stepStatus: { pg: { ...DONE, observedGeneration: 1 } },
    });
    expect(asked).toHaveLength(3);
  });

  it("asks nothing for a resource that is paused, invalid, planned or without a connection", async () => {
    expect(await step(standing("True"), { writes: false })).toMatchObject({
      startable: true,
      failures: [],
      reports: [{ status: "True", reason: "Before" }],
    });
    const event = [{ status: false, code: 301, message: "Before: m" }];
    expect(await step({ ...standing("False"), event }, { writes: false })).toMatchObject({
      startable: true,
      failures: [{ code: 301, condition: "DatabaseReady", reason: "Before", message: "m" }],
      reports: [],
    });
    expect(await step({}, { writes: false })).toMatchObject({ startable: true, reports: [] });
    expect(await step({}, { spec: { postgres: undefined } })).toMatchObject({ startable: true, reports: [] });
    expect(asked).toEqual([]);
  });
});

describe("what comes of it", () => {
  it("NACOS-202 holds pods back while there is no answer, and leaves a condition that stands", async () => {
    answer = { state: "pending" };
    expect(await step()).toMatchObject({
      startable: false,
      failures: [],
      reports: [{ type: "DatabaseReady", status: "Unknown", reason: "Connecting" }],
    });
    expect((await step(standing("True"))).reports).toMatchObject([{ status: "True", reason: "Before" }]);
  });

  it("NACOS-204 NACOS-723 a look that takes its time changes nothing, and holds no pods back", async () => {
    const { stepStatus } = await step();
    await clock.advance(5_000);
    answer = { state: "pending" };
    for (const _ of [1, 2]) {
      expect(await step(verified(1))).toMatchObject({
        startable: true,
        asking: true,
        failures: [],
        reports: [{ status: "True", reason: "Initialized" }],
        stepStatus,
      });
    }
  });

  it("NACOS-204 a failure stands while the next try takes its time, also after a restart, but not for another spec", async () => {
    answer = new DatabaseError("Timeout", "timeout: no answer");
    const failed = await step();
    const repeated = {
      startable: false,
      asking: true,
      failures: failed.failures,
      reports: [],
      stepStatus: failed.stepStatus,
    };
    await clock.advance(5_000);
    answer = { state: "pending" };
    expect(await step()).toMatchObject(repeated);
    const { reason, message } = failed.failures[0]!;
    const status: NacosStatus = {
      ...failed.stepStatus,
      observedGeneration: 1,
      operatorConditions: [
        { type: "DatabaseReady", status: "False", reason, message, lastTransitionTime: "t" },
      ],
    };
    memory = fresh();
    expect(await step(status)).toMatchObject(repeated);
    for (memory of [memory, fresh()]) {
      expect(await step(status, { generation: 2 })).toMatchObject({
        startable: false,
        asking: true,
        failures: [],
        reports: [{ status: "Unknown", reason: "Connecting" }],
      });
    }
  });

  it("NACOS-721 NACOS-723 reports a failure, keeps what was known, and tries again in the next pass", async () => {
    await step();
    answer = new DatabaseError("LoginRefused", "SQLSTATE 28P01: the password is wrong", {
      sqlState: "28P01",
    });
    const failed = await step(verified(1), { generation: 2 });
    expect(failed).toMatchObject({
      startable: false,
      reports: [],
      failures: [{ condition: "DatabaseReady", reason: "LoginRefused", code: 404 }],
    });
    expect(failed.stepStatus.pg).toEqual({
      ...DONE,
      observedGeneration: 1,
      lastResult: "Failed",
      lastMessage: "SQLSTATE 28P01: the password is wrong",
    });
    await clock.advance(5_000);
    answer = { state: "ok", value: { version: 1, ran: false }, at: 0 };
    const again = await step({ pg: failed.stepStatus.pg! }, { generation: 2 });
    expect(again.stepStatus.pg).toEqual({ ...DONE, observedGeneration: 2 });
    expect(again.notices).toEqual([]);
    expect(asked).toHaveLength(3);
  });

  it("throws on what no database said, such as the end of the process", async () => {
    const thrown = new Error("stopping");
    const failed = async () => ({ state: "failed", error: thrown, at: 0 });
    const ending = { ...probes, probe: failed } as unknown as Probes;
    const resource = nacos({ postgres: POSTGRES });
    const pass = passOf(resource, login, { memory, probes: ending, clock, databases });
    await expect(databaseStep(pass, true)).rejects.toBe(thrown);
  });
});
