import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../client/errors.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { parseLogLevels } from "./levels.ts";
import { createLogging, type Logging } from "./logger.ts";

function start(
  levels = "info",
  format: "json" | "console" = "json",
): Logging & { lines: string[]; records(): Record<string, unknown>[]; clock: FakeClock } {
  const lines: string[] = [];
  const clock = fakeClock(Date.UTC(2026, 9, 2, 3, 4, 5, 678));
  const logging = createLogging({
    levels: parseLogLevels(levels),
    format,
    destination: { write: (line) => lines.push(line) },
    clock,
  });
  return { ...logging, lines, records: () => lines.map((line) => JSON.parse(line)), clock };
}

describe("log lines", () => {
  it("CORE-285 writes one JSON object per line with level, ts, logger and msg", () => {
    const { log, lines } = start();
    log.named("controller").named("tars").with({ controller: "tars" }).info("Starting workers", { count: 4 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(lines[0]!)).toEqual({
      level: "info",
      ts: "2026-10-02T03:04:05.678Z",
      logger: "controller.tars",
      msg: "Starting workers",
      controller: "tars",
      count: 4,
    });
  });

  it("CORE-285 writes errors as error and stacktrace, those of the API with code and reason", () => {
    const { log, records } = start();
    const api = new ApiError({
      code: 403,
      reason: "Forbidden",
      message: "pods is forbidden",
      details: { causes: [] },
      retryAfterSeconds: undefined,
      continueToken: undefined,
      method: "GET",
      path: "/api/v1/pods",
    });
    log.error("Reconciler error", { error: new Error("list pods", { cause: api }) });
    log.error("Reconciler error", { error: api });
    const [wrapped, plain] = records();
    expect(wrapped).toMatchObject({ level: "error", error: "list pods: pods is forbidden" });
    expect(wrapped!.stacktrace).toContain("logger.test.ts");
    expect(plain).toMatchObject({ error: "pods is forbidden", code: 403, reason: "Forbidden" });
  });

  it("keeps a field of a reserved name apart", () => {
    const { log, records } = start();
    log.info("x", { level: 7, msg: "y" });
    expect(records()[0]).toMatchObject({ level: "info", msg: "x", _level: 7, _msg: "y" });
  });

  it("CORE-286 writes a reference instead of an object at info, and the object at debug", () => {
    const { log, records } = start("debug");
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "n" }, spec: { a: 1 } };
    log.info("seen", { object: pod });
    log.debug("seen", { object: pod });
    expect(records()[0]!.object).toEqual({ apiVersion: "v1", kind: "Pod", namespace: "n", name: "p" });
    expect(records()[1]!.object).toEqual(pod);
  });

  it("CORE-286 redacts secrets by field, by type and by form", () => {
    const { log, lines, records } = start("trace");
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", annotations: { "kubectl.kubernetes.io/last-applied-configuration": "hunter2" } },
      data: { password: "aHVudGVyMg==" },
      stringData: { raw: "hunter2" },
    };
    log.trace("all of them", {
      headers: { Authorization: "hunter2", accept: "*/*", cookie: ["hunter2"] },
      apiToken: "hunter2",
      dbPassword: "hunter2",
      nested: [{ clientSecret: "hunter2" }],
      object: secret,
      list: { kind: "List", items: [secret] },
      bytes: Buffer.from("hunter2"),
      text: "Authorization: Bearer hunter2hunter2",
      url: "postgres://user:hunter2@db:5432/x",
      error: new Error("token eyJhbGciOi.eyJzdWIiOiJ.hunter2 refused"),
      pem: "-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----",
    });
    expect(lines.join("")).not.toContain("hunter2");
    expect(lines.join("")).not.toContain("aHVudGVyMg");
    expect(records()[0]).toMatchObject({
      headers: { Authorization: "[redacted]", accept: "*/*" },
      object: { kind: "Secret", data: { password: "[redacted]" } },
      url: "postgres://user:[redacted]@db:5432/x",
    });
  });

  it("keeps names and places of secrets readable", () => {
    const { log, records } = start();
    const fields = { secretName: "s", tokenFile: "/run/t", Secret: { namespace: "n", name: "s" } };
    log.info("x", fields);
    expect(records()[0]).toMatchObject(fields);
  });

  it("writes any JSON without failing", () => {
    const { log, records } = start();
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
        expect(() => log.info("x", fields)).not.toThrow();
      }),
    );
    expect(records().every((record) => record.msg === "x")).toBe(true);
  });

  it("survives a circular field", () => {
    const { log, records } = start();
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    log.info("x", { loop });
    expect(JSON.stringify(records()[0])).toContain("[too deep]");
  });
});

describe("levels while running", () => {
  it("CORE-287 filters by logger and follows a change of levels", () => {
    const { log, records, setLevels } = start("info,tars=debug");
    log.debug("hidden");
    log.named("controller").named("tars").debug("shown");
    setLevels(parseLogLevels("error"));
    log.warn("hidden");
    log.named("controller").named("tars").debug("hidden");
    expect(records().map((record) => record.msg)).toEqual(["shown"]);
  });

  it("CORE-287 toggles debug for every logger and back", () => {
    const { log, records, toggleDebug } = start("warn,tars=error");
    expect(toggleDebug()).toBe(true);
    log.named("tars").debug("shown");
    log.trace("hidden");
    expect(toggleDebug()).toBe(false);
    log.info("hidden");
    expect(records().map((record) => record.msg)).toEqual(["shown"]);
  });
});

describe("sampling", () => {
  it("CORE-287 writes the first 100 of 10 000 equal messages in a minute, then one of 100, with the count", async () => {
    const { log, records, clock } = start();
    for (let index = 0; index < 10_000; index++) log.warn("flood");
    expect(records()).toHaveLength(100 + 99);
    expect(records()[99]).not.toHaveProperty("repeated");
    expect(records()[100]).toMatchObject({ repeated: 200 });
    expect(records().at(-1)).toMatchObject({ repeated: 10_000 });
    await clock.advance(60_000);
    log.warn("flood");
    expect(records().at(-1)).not.toHaveProperty("repeated");
    expect(records()).toHaveLength(200);
  });

  it("counts messages about different objects apart", () => {
    const { log, records } = start();
    for (let index = 0; index < 300; index++) log.error("Reconciler error", { name: `o${index}` });
    expect(records()).toHaveLength(300);
  });
});

describe("console format", () => {
  it("CORE-285 writes lines for people with --log-format=console", () => {
    const { log, lines } = start("info", "console");
    log.named("tars").info("Started", { workers: 4, note: "two words" });
    log.error("Failed", { error: new Error("boom") });
    expect(lines[0]).toBe('2026-10-02T03:04:05.678Z INFO  tars Started workers=4 note="two words"\n');
    expect(lines[1]).toMatch(/ERROR Failed error=boom\nError: boom\n {4}at /);
  });
});
