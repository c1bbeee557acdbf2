import { describe, expect, it } from "vitest";
import { keyOf, keyToString } from "../../object.ts";
import { fakeClock } from "../../testkit/fake-clock.ts";
import { type Thing, thing } from "../fixtures.testkit.ts";
import { createOverlay } from "./overlay.ts";

const at = (version: string, uid = "u1", name = "x"): Thing =>
  thing(name, { metadata: { uid, resourceVersion: version } });
const KEY = keyOf(at("1"));

function setUp() {
  const clock = fakeClock();
  const changed: string[] = [];
  const expired: string[] = [];
  const overlay = createOverlay<Thing>({
    clock,
    onChange: (key) => changed.push(keyToString(key)),
    onExpired: (key) => expired.push(keyToString(key)),
  });
  const write = (object: Thing, base?: Thing, position?: string): void =>
    overlay.written(keyOf(object), { object, metadata: object.metadata }, base, position);
  const shown = (): string | undefined => {
    const laid = overlay.get(KEY);
    return laid?.mode === "written" ? laid.object?.metadata.resourceVersion : laid?.mode;
  };
  return { clock, changed, expired, overlay, write, shown };
}

describe("overlay of own writes", () => {
  it("CORE-185 shows a write until the watch brings that version or a later one", () => {
    for (const arriving of ["20", "21"]) {
      const { overlay, write, shown } = setUp();
      write(at("20"), at("10"), "15");
      expect(shown()).toBe("20");
      overlay.sawObject(KEY, at("19"));
      expect(shown()).toBe("20");
      overlay.sawObject(KEY, at(arriving));
      expect(shown()).toBeUndefined();
    }
  });

  it("CORE-185 ends after 30 s and reports it", async () => {
    const { clock, expired, changed, write, shown } = setUp();
    write(at("20"), at("10"), "15");
    await clock.advance(29_999);
    expect(shown()).toBe("20");
    await clock.advance(1);
    expect(shown()).toBeUndefined();
    expect(expired).toEqual(["a/x"]);
    expect(changed).toEqual(["a/x", "a/x"]);
    expect(clock.pending).toBe(0);
  });

  it("gives every write its own 30 s, also a second one of the same object", async () => {
    const { clock, expired, write, shown } = setUp();
    write(at("20"));
    write(at("21", "u2", "y"));
    await clock.advance(20_000);
    write(at("22"));
    await clock.advance(10_000);
    expect(expired).toEqual(["a/y"]);
    expect(shown()).toBe("22");
    await clock.advance(20_000);
    expect(expired).toEqual(["a/y", "a/x"]);
  });

  it("ignores a write that the watch was faster than", () => {
    const { write, shown } = setUp();
    write(at("20"), at("20"), "20");
    expect(shown()).toBeUndefined();
    write(at("20"), at("25"), "25");
    expect(shown()).toBeUndefined();
    write(at("20"), undefined, "22");
    expect(shown(), "created and deleted again").toBeUndefined();
  });

  it("keeps the latest of writes whose answers come out of order", () => {
    const { write, shown } = setUp();
    write(at("21"), at("10"), "15");
    write(at("20"), at("10"), "15");
    expect(shown()).toBe("21");
  });

  it("leaves when the watch has passed the version without an event for the object", () => {
    const { overlay, write, shown } = setUp();
    write(at("20"), at("10"), "15");
    overlay.sawPosition("19");
    expect(shown()).toBe("20");
    overlay.sawPosition("20");
    expect(shown()).toBeUndefined();
  });

  it("leaves when a list is as new, whether it holds the object or not", () => {
    const { overlay, write, shown } = setUp();
    write(at("20"), at("10"), "15");
    overlay.sawList("19", () => at("10"));
    expect(shown()).toBe("20");
    overlay.sawList("20", () => undefined);
    expect(shown()).toBeUndefined();
  });

  it("CORE-185 hides a deleted object until its deletion is seen, through updates of it", () => {
    const { overlay, shown } = setUp();
    overlay.deleted(KEY, at("10"));
    expect(shown()).toBe("deleted");
    overlay.sawObject(KEY, at("12"));
    overlay.sawPosition("13");
    expect(shown()).toBe("deleted");
    overlay.sawDeletion(KEY, at("14"));
    expect(shown()).toBeUndefined();
  });

  it("does not hide a new object of the same name", () => {
    const { overlay, write, shown } = setUp();
    overlay.deleted(KEY, at("10"));
    overlay.sawObject(KEY, at("15", "u2"));
    expect(shown()).toBeUndefined();

    overlay.deleted(KEY, at("15", "u2"));
    write(at("20", "u3"), at("15", "u2"), "16");
    expect(shown()).toBe("20");
    overlay.sawDeletion(KEY, at("18", "u2"));
    expect(shown(), "the deletion of the one before").toBe("20");
    overlay.sawDeletion(KEY, at("22", "u3"));
    expect(shown()).toBeUndefined();
  });

  it("CORE-185 does not hide a new object of the same name that the watch brought before the delete was answered", () => {
    const { overlay, write, shown } = setUp();
    overlay.deleted(KEY, at("15", "u2"), "u1");
    expect(shown()).toBeUndefined();
    write(at("20", "u3"), at("15", "u2"), "16");
    overlay.deleted(KEY, at("15", "u2"), "u2");
    expect(shown()).toBe("20");
    overlay.deleted(KEY, at("15", "u2"), "u3");
    expect(shown()).toBe("deleted");
  });

  it("does not bring a deleted object back by the late answer of an earlier write", () => {
    const { overlay, write, shown } = setUp();
    overlay.deleted(KEY, at("10"));
    write(at("12"), at("10"), "10");
    expect(shown()).toBe("deleted");
  });

  it("hides an object that was written, deleted and never watched", () => {
    const { overlay, write, shown } = setUp();
    write(at("20"), undefined, "15");
    overlay.deleted(KEY, undefined);
    expect(shown()).toBe("deleted");
  });

  it("hides nothing that the cache never saw", () => {
    const { overlay } = setUp();
    overlay.deleted(KEY, undefined);
    expect(overlay.size).toBe(0);
  });

  it("CORE-186 asks for live reads when a version cannot be ordered, until just that version is seen", () => {
    const { overlay, write, shown } = setUp();
    write(at("0x20"), at("10"), "15");
    expect(shown()).toBe("live");
    overlay.sawObject(KEY, at("0x1f"));
    overlay.sawPosition("99");
    expect(shown()).toBe("live");
    overlay.sawObject(KEY, at("0x20"));
    expect(shown()).toBeUndefined();
    write(at("20"), at("odd"), "15");
    expect(shown(), "what is cached cannot be ordered").toBe("live");
  });

  it("lets go of everything when cleared", () => {
    const { clock, overlay, write } = setUp();
    write(at("20"));
    overlay.clear();
    expect(overlay.size).toBe(0);
    expect(clock.pending).toBe(0);
  });
});
