import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { foldersIn } from "./folders.ts";

let root: string;
let base: string;
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o750 };
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tars-volumes-"));
  base = join(root, "base");
  await mkdir(base);
});
afterEach(() => rm(root, { recursive: true, force: true }));
const modeOf = async (path: string): Promise<number> => (await stat(join(base, path))).mode & 0o7777;

describe("folders of volumes", () => {
  it("TARS-LV-003 TARS-LV-008 are made, and brought to their mode whatever it was", async () => {
    const folders = foldersIn(base);
    await folders.ensure("ns/A.S/data", owner);
    expect(await modeOf("ns/A.S/data")).toBe(0o750);
    await chmod(join(base, "ns/A.S/data"), 0o777);
    await folders.ensure("ns/A.S/data", owner);
    expect(await modeOf("ns/A.S/data")).toBe(0o750);
  });

  it("TARS-LV-009 are removed with what is in them, links without what they lead to", async () => {
    const folders = foldersIn(base);
    await folders.ensure("ns/A.S/data", owner);
    await writeFile(join(root, "precious"), "x");
    await symlink(root, join(base, "ns/A.S/data/out"));
    await folders.remove("ns/A.S/data");
    await folders.remove("ns/A.S/data");
    expect(await readdir(join(base, "ns/A.S"))).toEqual([]);
    expect(await readdir(root)).toContain("precious");
  });

  it.each(["../base2", "", "a//b", "a/../../b"])("TARS-LV-009 %j is refused", async (folder) => {
    await expect(foldersIn(base).remove(folder)).rejects.toThrow("not below");
    await expect(foldersIn(base).ensure(folder, owner)).rejects.toThrow("not below");
  });

  it("TARS-LV-009 a link on the way is not followed", async () => {
    await mkdir(join(root, "elsewhere/A.S/data"), { recursive: true });
    await symlink(join(root, "elsewhere"), join(base, "ns"));
    await expect(foldersIn(base).remove("ns/A.S/data")).rejects.toThrow("is no folder");
    await expect(foldersIn(base).ensure("ns/A.S/data", owner)).rejects.toThrow("is no folder");
    expect(await readdir(join(root, "elsewhere/A.S"))).toEqual(["data"]);
  });
});
