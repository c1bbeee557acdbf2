import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { belongs } from "../backend.ts";
import { type Change, createMirror } from "./mirror.ts";

const snapshot = (revision: number, values: Readonly<Record<string, string>>) => ({
  revision,
  clusterId: "1",
  values: new Map(Object.entries(values)),
});
const put = (revision: number, key: string, value: string): Change => ({ revision, key, value });

describe("values that the watch keeps current", () => {
  it("CONFD-WATCH-2 CONFD-READ-6 holds the whole range as it is at one revision", () => {
    const mirror = createMirror();
    mirror.start("/a", 5);
    mirror.fill(["/a", "/other"], snapshot(7, { "/a": "x", "/a/b": "1", "/a/c": "2", "/other": "-" }));
    mirror.apply("/a", [put(8, "/a/b", "8"), { revision: 8, key: "/a/c", value: undefined }], true);
    expect(mirror.read(["/a"], 8)).toEqual(snapshot(8, { "/a": "x", "/a/b": "8" }));
    expect(mirror.read(["/a/b"], 8)).toEqual(snapshot(8, { "/a/b": "8" }));
  });

  it("CONFD-READ-3 answers for one range alone: two need not be at the same revision", () => {
    const mirror = createMirror();
    for (const range of ["/a", "/b"]) mirror.start(range, 5);
    mirror.fill(["/a", "/b"], snapshot(7, { "/a": "1", "/b": "1" }));
    expect(mirror.read(["/a", "/b"], 7)).toBeUndefined();
    expect(mirror.read(["/b"], 7)?.values.get("/b")).toBe("1");
  });

  it("CONFD-READ-6 answers nothing that is older than what was told, cut off, or not read yet", () => {
    const mirror = createMirror();
    mirror.start("/a", 5);
    expect(mirror.read(["/a"], 5)).toBeUndefined();
    mirror.apply("/a", [put(9, "/a/b", "9")], true);
    mirror.fill(["/a"], snapshot(8, { "/a/b": "8" }));
    expect(mirror.read(["/a"], 9)).toBeUndefined();
    mirror.fill(["/a"], snapshot(9, { "/a/b": "9" }));
    expect(mirror.read(["/a"], 10)).toBeUndefined();
    mirror.apply("/a", [put(10, "/a/b", "10")], false);
    expect(mirror.read(["/a"], 10)).toBeUndefined();
    mirror.apply("/a", [put(10, "/a/c", "10")], true);
    expect(mirror.read(["/a"], 10)).toEqual(snapshot(10, { "/a/b": "10", "/a/c": "10" }));
    mirror.stop("/a");
    expect(mirror.read(["/a"], 10)).toBeUndefined();
  });

  it("CONFD-READ-6 is what the store was at its revision, however reads and changes come", () => {
    const keys = ["/a", "/a/1", "/a/2", "/a/2/x"];
    const step = fc.record({
      key: fc.constantFrom(...keys),
      value: fc.option(fc.string({ maxLength: 2 }), { nil: undefined }),
      read: fc.boolean(),
      late: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const mirror = createMirror();
        mirror.start("/a", 0);
        const history = [new Map<string, string>()];
        const told: Change[] = [];
        for (const { key, value, read, late } of steps) {
          const next = new Map(history.at(-1));
          if (value === undefined) next.delete(key);
          else next.set(key, value);
          history.push(next);
          told.push({ key, value, revision: history.length - 1 });
          // The watch may be behind, and what was read may be older than what it has told.
          if (read) {
            const revision = Math.max(0, history.length - 1 - late);
            mirror.fill(["/a"], { revision, clusterId: "1", values: history[revision]! });
          }
          while (told.length > late) mirror.apply("/a", [told.shift()!], true);
          const found = mirror.read(["/a"], 0);
          if (found !== undefined) expect(found.values).toEqual(history[found.revision]);
          expect(
            [...(mirror.read(["/a/2"], 0)?.values.keys() ?? [])].every((one) => belongs(one, "/a/2")),
          ).toBe(true);
        }
      }),
    );
  });
});
