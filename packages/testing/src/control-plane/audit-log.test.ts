import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type AuditEvent, auditPolicy, followAuditLog, matchesFilter, requestOf } from "./audit-log.ts";

function event(change: Partial<AuditEvent> = {}): AuditEvent {
  return {
    auditID: "1",
    stage: "ResponseComplete",
    verb: "update",
    requestURI: "/api/v1/namespaces/a/pods/b/status?fieldManager=m",
    user: { username: "jane" },
    userAgent: "agent/1",
    objectRef: { resource: "pods", namespace: "a", name: "b", subresource: "status" },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: "2026-01-02T03:04:05.678901Z",
    ...change,
  };
}

describe("requestOf", () => {
  it("translates a finished request", () => {
    expect(requestOf(event())).toEqual({
      verb: "update",
      resource: "pods",
      group: "",
      subresource: "status",
      namespace: "a",
      name: "b",
      path: "/api/v1/namespaces/a/pods/b/status",
      user: "jane",
      userAgent: "agent/1",
      code: 200,
      at: Date.parse("2026-01-02T03:04:05.678Z"),
      dryRun: false,
    });
  });

  it("tells an apply by force, a dry run by its parameter, and names the impersonated user", () => {
    const apply = requestOf(
      event({
        verb: "patch",
        requestURI: "/x?force=true&dryRun=All",
        impersonatedUser: { username: "joe" },
      }),
    );
    expect(apply).toMatchObject({ verb: "apply", dryRun: true, user: "joe", path: "/x" });
    expect(requestOf(event({ verb: "patch", requestURI: "/x?fieldManager=m" }))?.verb).toBe("patch");
  });

  it("counts a watch once, when it starts; other requests when they are finished", () => {
    const watch = (stage: AuditEvent["stage"], code: number): AuditEvent =>
      event({ verb: "watch", stage, responseStatus: { code } });
    expect(requestOf(watch("ResponseStarted", 200))?.verb).toBe("watch");
    expect(requestOf(watch("ResponseComplete", 200))).toBeUndefined();
    expect(requestOf(watch("ResponseComplete", 403))?.code).toBe(403);
    expect(requestOf(event({ stage: "ResponseStarted" }))).toBeUndefined();
  });

  it("has empty names for requests that are about no resource", () => {
    const { objectRef: _, ...plain } = event({ verb: "get", requestURI: "/version" });
    expect(requestOf(plain)).toMatchObject({ resource: "", name: "", path: "/version" });
  });
});

it("filters by every given value and by time of arrival", () => {
  const record = requestOf(event())!;
  expect(matchesFilter(record, {})).toBe(true);
  expect(matchesFilter(record, { user: "jane", code: 200 })).toBe(true);
  expect(matchesFilter(record, { user: "jane", code: 201 })).toBe(false);
  expect(matchesFilter(record, { since: record.at })).toBe(true);
  expect(matchesFilter(record, { since: record.at + 1 })).toBe(false);
});

it("CORE-451 asks for bodies of the given users' requests, and for metadata of all others", () => {
  expect(parse(auditPolicy({ requestResponseUsers: ["quartet"] }))).toMatchObject({
    omitStages: ["RequestReceived"],
    rules: [{ level: "RequestResponse", users: ["quartet"] }, { level: "Metadata" }],
  });
  expect(parse(auditPolicy())).toMatchObject({ rules: [{ level: "Metadata" }] });
});

describe("followAuditLog", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "quartet-audit-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("reads what was appended, and a line only when it is complete", async () => {
    const file = join(folder, "audit.log");
    const seen: string[] = [];
    const log = followAuditLog(file);
    const advance = (): Promise<void> => log.advance(({ auditID }) => seen.push(auditID));
    await advance();
    expect(seen).toEqual([]);
    const second = JSON.stringify(event({ auditID: "ü2" }));
    const bytes = Buffer.from(`${JSON.stringify(event())}\n${second}\n`);
    const split = bytes.indexOf("ü") + 1; // in the middle of a character
    appendFileSync(file, bytes.subarray(0, split));
    await advance();
    expect(seen).toEqual(["1"]);
    appendFileSync(file, bytes.subarray(split));
    await advance();
    await advance();
    expect(seen).toEqual(["1", "ü2"]);
  });

  it("reads logs of more than one chunk, from an offset on", async () => {
    const file = join(folder, "audit.log");
    const line = `${JSON.stringify(event({ userAgent: "x".repeat(700) }))}\n`;
    appendFileSync(file, line.repeat(3000));
    let count = 0;
    await followAuditLog(file, line.length * 500).advance(() => count++);
    expect(count).toBe(2500);
  });

  it("leaves out the line that was being written at its offset", async () => {
    const file = join(folder, "audit.log");
    const first = `${JSON.stringify(event())}\n`;
    const cut = `${JSON.stringify(event({ auditID: "cut" }))}\n`;
    appendFileSync(file, first + cut.slice(0, 50));
    const seen: string[] = [];
    const log = followAuditLog(file, first.length + 50);
    const advance = (): Promise<void> => log.advance(({ auditID }) => seen.push(auditID));
    await advance();
    appendFileSync(file, cut.slice(50, 60));
    await advance();
    appendFileSync(file, cut.slice(60) + JSON.stringify(event({ auditID: "next" })).concat("\n"));
    await advance();
    expect(seen).toEqual(["next"]);
  });
});
