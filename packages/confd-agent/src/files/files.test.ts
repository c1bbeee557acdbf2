/** Files as readers see them. */
import {
  chmodSync,
  chownSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";
import { digestOf } from "./compare.ts";
import { type FlushTime, flushTime } from "./flush.ts";
import { keepFormer } from "./former.ts";
import { replaceFile } from "./replace.ts";
import { type Stage, writeStage } from "./stage.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());
const once = (...more: readonly string[]) => scene.run(["--onetime", "--backend", "env", ...more]);

it("CONFD-FILE-3 each difference is told with the old and the new value", async () => {
  scene.resource("a", { template: "new", lines: ['mode = "0600"'] });
  expect((await once()).stderr).toContain("out of sync: it does not exist");
  scene.write("a", "old");
  const content = /content is [0-9a-f]{12}, should be [0-9a-f]{12}/;
  expect((await once()).stderr).toMatch(content);
  scene.resource("a", { template: "new", lines: ['mode = "0640"'] });
  const { stderr } = await once();
  expect(stderr).toContain("mode is 0600, should be 0640");
  expect(stderr).not.toMatch(content);
});

it("CONFD-FILE-5 CONFD-FILE-12 candidates stand beside the file, private, under a name that no pattern matches", async () => {
  const target = scene.path("a.conf");
  const attributes = { mode: 0o640, uid: process.getuid!(), gid: process.getgid!() };
  const stage = writeStage({ target, content: Buffer.from("x"), attributes, stageDir: "" });
  expect(stage.path).toMatch(/\/\.a\.conf\.[0-9a-f]{12}$/);
  expect(statSync(stage.path).mode & 0o777).toBe(0o640);
  await replaceFile({
    stage,
    target,
    content: Buffer.from("x"),
    attributes,
    flush: "before",
    beforeReplace: () => {},
  });
  expect(readdirSync(scene.folder).filter((name) => name.includes("a.conf"))).toEqual(["a.conf"]);
});

it("CONFD-FILE-6 readers see the old text or the new one, whole, at every moment", async () => {
  const target = scene.path("a");
  const attributes = { mode: 0o644, uid: process.getuid!(), gid: process.getgid!() };
  const write = async (round: number): Promise<void> => {
    const content = Buffer.from(`${round};`.repeat(20_000));
    const stage = writeStage({ target, content, attributes, stageDir: "" });
    await replaceFile({ stage, target, content, attributes, flush: "never", beforeReplace: () => {} });
    stage.close();
  };
  await write(0);
  let done = false;
  const writing = (async () => {
    for (let round = 1; round <= 200; round++) {
      await write(round);
      await turn();
    }
    done = true;
  })();
  let reads = 0;
  while (!done) {
    const text = readFileSync(target, "utf8");
    const [first] = text.split(";", 1);
    expect(text).toBe(`${first};`.repeat(20_000));
    reads += 1;
    await turn();
  }
  await writing;
  expect(reads).toBeGreaterThan(100);
});

describe("CONFD-FILE-17 a crash of the machine", () => {
  const attributes = { mode: 0o644, uid: process.getuid!(), gid: process.getgid!() };
  const names = (): string[] => readdirSync(scene.folder).filter((name) => name.includes("a.conf"));
  const kept = (text: string): string => `.a.conf.${digestOf(Buffer.from(text))}.old`;
  const replace = async (
    time: FlushTime,
    flush?: Stage["flush"],
    beforeReplace = (): void => {},
  ): Promise<void> => {
    const target = scene.path("a.conf");
    const content = Buffer.from("new");
    const stage = writeStage({ target, content, attributes, stageDir: "" });
    const watched = { ...stage, flush: flush ?? stage.flush };
    await replaceFile({
      stage: watched,
      target,
      content,
      attributes,
      flush: time,
      beforeReplace,
    }).finally(() => {
      stage.close();
      rmSync(stage.path, { force: true });
    });
  };

  it("never finds a new text without the old one beside it until it is on the disk", async () => {
    scene.write("a.conf", "old");
    let flushes = 0;
    const flush = async (): Promise<void> => {
      flushes += 1;
      expect(scene.read("a.conf")).toBe("new");
      expect(names().sort()).toEqual([kept("new"), "a.conf"].sort());
      expect(scene.read(kept("new"))).toBe("old");
    };
    await replace("after", flush);
    expect(flushes).toBe(1);
    expect(names()).toEqual(["a.conf"]);
  });

  it.each<FlushTime>(["before", "after"])("finds a first text only on the disk (%s)", async (time) => {
    let seen: string[] | undefined;
    await replace(time, async () => {
      seen = names();
    });
    expect(seen).not.toContain("a.conf");
    expect(scene.read("a.conf")).toBe("new");
  });

  it("finds a text on the disk where the old one could not be told from one that others put there", async () => {
    scene.write("a.conf", "old");
    linkSync(scene.path("a.conf"), scene.path("other"));
    await replace("after", async () => expect(scene.read("a.conf")).toBe("old"));
    expect([scene.read("a.conf"), scene.read("other")]).toEqual(["new", "old"]);
  });

  it("finds a text on the disk where an agent that starts could not look for the old one", () => {
    scene.write("drop/a.conf", "old");
    const target = scene.path("drop/a.conf");
    const uid = process.getuid!() === 0 ? 65_534 : process.getuid!();
    for (const path of [scene.path("drop"), target]) chownSync(path, uid, process.getgid!());
    chmodSync(scene.folder, 0o711);
    chmodSync(scene.path("drop"), 0o300);
    const own = process.geteuid!();
    process.seteuid!(uid);
    try {
      expect(keepFormer(target, Buffer.from("new"), uid)).toBeUndefined();
    } finally {
      process.seteuid!(own);
      chmodSync(scene.path("drop"), 0o700);
    }
  });

  it("is not needed to see a disk that fails: the old text stands there again", async () => {
    scene.write("a.conf", "old");
    await expect(replace("after", () => Promise.reject(new Error("EIO")))).rejects.toThrow("EIO");
    expect(scene.read("a.conf")).toBe("old");
  });

  it("is not needed to lose what others put there while the disk failed", async () => {
    scene.write("a.conf", "old");
    const flush = (): Promise<void> => {
      scene.write("theirs", "theirs");
      renameSync(scene.path("theirs"), scene.path("a.conf"));
      return Promise.reject(new Error("EIO"));
    };
    await expect(replace("after", flush)).rejects.toThrow("EIO");
    expect(scene.read("a.conf")).toBe("theirs");
    expect(names()).toEqual(["a.conf"]);
  });

  it.each<FlushTime>(["before", "after"])(
    "CONFD-RES-14 is not prepared for where another version came meanwhile (%s)",
    async (time) => {
      scene.write("a.conf", "newer");
      let isRetired = time === "after";
      const flush = async (): Promise<void> => {
        isRetired = true;
      };
      const judge = (): void => {
        if (isRetired) throw new Error("its resource was replaced");
      };
      await expect(replace(time, flush, judge)).rejects.toThrow("its resource was replaced");
      expect(scene.read("a.conf")).toBe("newer");
      expect(names()).toEqual(["a.conf"]);
    },
  );

  /** What an agent finds there, and leaves, whose backend is away. */
  const afterStart = async (): Promise<{ text: string; left: string[]; log: string }> => {
    scene.resource("a", {
      keys: ["/a"],
      template: '{{getv "/a"}}',
      dest: scene.path("a.conf"),
    });
    const { stderr } = await scene.run(["--onetime", "--backend", "file", "--file", scene.path("away.yaml")]);
    return { text: scene.read("a.conf"), left: names().filter((name) => name !== "a.conf"), log: stderr };
  };

  it.each(["", "\0\0\0"])(
    "that took the new text (%j left) leaves the old one, without any backend",
    async (lost) => {
      scene.write("a.conf", lost);
      scene.write(kept("new"), "old");
      const { text, left, log } = await afterStart();
      expect(text).toBe("old");
      expect(left).toEqual([]);
      expect(log).toContain("its last text was lost in a crash: the one before stands there again");
    },
  );

  it("that took nothing, or came before anything was done, leaves the file as it is", async () => {
    scene.write("a.conf", "new");
    scene.write(kept("new"), "old");
    expect(await afterStart()).toMatchObject({ text: "new", left: [] });
    linkSync(scene.path("a.conf"), scene.path(kept("other")));
    expect(await afterStart()).toMatchObject({ text: "new", left: [] });
  });

  it.each([
    ["", "older"],
    ["middle", "middle"],
  ])(
    "in the middle of two changes leaves what is known to be whole (%j of the first left)",
    async (first, whole) => {
      scene.write("a.conf", "");
      scene.write(kept("middle"), "older");
      await sleep(20);
      scene.write(kept("new"), first);
      expect(await afterStart()).toMatchObject({ text: whole, left: [] });
    },
  );

  it("in the middle of two changes, before the second was made, leaves the text before the first", async () => {
    scene.write("a.conf", "");
    linkSync(scene.path("a.conf"), scene.path(kept("new")));
    scene.write(kept("middle"), "older");
    expect(await afterStart()).toMatchObject({ text: "older", left: [] });
  });

  it("before others wrote the file leaves it as it is: nothing of theirs was lost", async () => {
    scene.write(kept("new"), "old");
    await sleep(20);
    scene.write("a.conf", "theirs");
    expect(await afterStart()).toMatchObject({ text: "theirs", left: [] });
  });

  it("is not simulated by others who may write in the folder", async () => {
    scene.write("a.conf", "");
    scene.write("theirs", "planted");
    linkSync(scene.path("theirs"), scene.path(kept("one")));
    if (process.getuid!() === 0) {
      scene.write(kept("two"), "planted");
      chownSync(scene.path(kept("two")), 12_345, 12_345);
    }
    const { text, left } = await afterStart();
    expect(text).toBe("");
    expect(left).toContain(kept("one"));
  });

  it("flushing is left out where it does nothing, and done first where nothing is promised", () => {
    expect(flushTime("/proc/self/status")).toBe("before");
    expect(flushTime(scene.path("not-there"))).toBe("before");
  });
});
