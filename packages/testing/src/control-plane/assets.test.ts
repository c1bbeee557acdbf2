import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureAssets, findAssets } from "./assets.ts";
import { cacheFolder, PROGRAMS, parseVersions, pinnedVersions, variableOf } from "./programs.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quartet-assets-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Creates an executable file and returns its path. */
function executable(path: string, text = "#!/bin/sh\n"): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A `go` that writes its arguments to a log, and the output file, as the real one does. */
function fakeGo(): { bin: string; log: string } {
  const log = join(folder, "go.log");
  const bin = join(folder, "bin");
  executable(
    join(bin, "go"),
    `#!/bin/sh
[ "$1" = version ] && exit 0
echo "CGO_ENABLED=$CGO_ENABLED $*" >> ${log}
while [ "$1" != -o ]; do shift; done
sleep 0.1
echo program > "$2"
chmod +x "$2"
`,
  );
  return { bin, log };
}

describe("versions", () => {
  it("reads the versions of the three modules out of a go.mod", () => {
    const text =
      "module m\n\nrequire (\n\tk8s.io/kubernetes v1.30.1 // indirect\n\tgo.etcd.io/etcd/server/v3 v3.6.0\n)\nrequire sigs.k8s.io/kwok v0.7.0\n";
    expect(() => parseVersions(text)).toThrow("sigs.k8s.io/kwok is not required");
    expect(parseVersions(text.replace("require sigs", "\tsigs"))).toEqual({
      kubernetes: "v1.30.1",
      etcd: "v3.6.0",
      kwok: "v0.7.0",
    });
  });

  it("names the cache folder after the versions, below XDG_CACHE_HOME or ~/.cache", () => {
    const versions = { kubernetes: "v1.37.2", etcd: "v3.7.0", kwok: "v0.8.0" };
    const name = "quartet/control-plane/kubernetes-v1.37.2_etcd-v3.7.0_kwok-v0.8.0";
    expect(cacheFolder({ XDG_CACHE_HOME: "/x", HOME: "/h" }, versions)).toBe(`/x/${name}`);
    expect(cacheFolder({ HOME: "/h" }, versions)).toBe(`/h/.cache/${name}`);
  });
});

describe("findAssets", () => {
  it("CORE-440 takes QUARTET_TEST_<NAME> before KUBEBUILDER_ASSETS before the cache folder", () => {
    const env: Record<string, string> = { XDG_CACHE_HOME: folder };
    const cache = cacheFolder(env, pinnedVersions());
    for (const program of PROGRAMS) executable(join(cache, program));
    expect(findAssets(env).programs.etcd).toBe(join(cache, "etcd"));

    env.KUBEBUILDER_ASSETS = join(folder, "envtest");
    for (const program of ["kube-apiserver", "etcd", "kubectl"]) {
      executable(join(env.KUBEBUILDER_ASSETS, program));
    }
    env.QUARTET_TEST_KUBE_APISERVER = executable(join(folder, "own", "my-apiserver"));
    const { programs, missing, version } = findAssets(env);
    expect(programs).toEqual({
      etcd: join(folder, "envtest", "etcd"),
      kubectl: join(folder, "envtest", "kubectl"),
      "kube-apiserver": join(folder, "own", "my-apiserver"),
      "kube-controller-manager": join(cache, "kube-controller-manager"),
      "kube-scheduler": join(cache, "kube-scheduler"),
      kwok: join(cache, "kwok"),
    });
    expect(missing).toEqual([]);
    expect(version).toContain("KUBEBUILDER_ASSETS");
  });

  it("CORE-440 has a variable for every program", () => {
    expect(PROGRAMS.map(variableOf)).toEqual([
      "QUARTET_TEST_ETCD",
      "QUARTET_TEST_KUBE_APISERVER",
      "QUARTET_TEST_KUBE_CONTROLLER_MANAGER",
      "QUARTET_TEST_KUBE_SCHEDULER",
      "QUARTET_TEST_KWOK",
      "QUARTET_TEST_KUBECTL",
    ]);
  });

  it("refuses a variable that names no executable", () => {
    const env = { XDG_CACHE_HOME: folder, QUARTET_TEST_ETCD: join(folder, "absent") };
    expect(() => findAssets(env)).toThrow(`QUARTET_TEST_ETCD=${folder}/absent: no executable file`);
  });
});

describe("ensureAssets", () => {
  it("says what is missing and how to get it when there is no Go", async () => {
    const env = { XDG_CACHE_HOME: folder, PATH: join(folder, "empty") };
    await expect(ensureAssets({ env })).rejects.toThrow(/missing programs.*kube-apiserver.*install Go/);
  });

  it("asks for the needed programs only", async () => {
    const env = { XDG_CACHE_HOME: folder, KUBEBUILDER_ASSETS: join(folder, "envtest"), PATH: "" };
    for (const program of ["kube-apiserver", "etcd"]) executable(join(env.KUBEBUILDER_ASSETS, program));
    const { programs } = await ensureAssets({ env, need: ["etcd", "kube-apiserver"] });
    expect(Object.keys(programs).sort()).toEqual(["etcd", "kube-apiserver"]);
    await expect(ensureAssets({ env, need: ["etcd", "kwok"] })).rejects.toThrow("plane: kwok: install Go");
  });

  it("builds the missing programs once, also when two ask at the same time", async () => {
    const { bin, log } = fakeGo();
    const env = { XDG_CACHE_HOME: folder, PATH: `${bin}:/usr/bin:/bin` };
    const cache = cacheFolder(env, pinnedVersions());
    executable(join(cache, "kubectl"));
    const lines: string[] = [];
    const both = await Promise.all([
      ensureAssets({ env, onProgress: (line) => lines.push(line) }),
      ensureAssets({ env, onProgress: (line) => lines.push(line) }),
    ]);
    expect(both.map(({ missing }) => missing)).toEqual([[], []]);
    expect(readdirSync(cache).sort()).toEqual([...PROGRAMS].sort());
    expect(existsSync(`${cache}.lock`)).toBe(false);
    expect(lines.filter((line) => line.startsWith("building etcd"))).toHaveLength(1);

    const builds = readFileSync(log, "utf8").trim().split("\n");
    expect(builds).toHaveLength(PROGRAMS.length - 1);
    const { kubernetes, kwok } = pinnedVersions();
    const apiserver = builds.find((line) => line.endsWith("k8s.io/kubernetes/cmd/kube-apiserver"));
    expect(apiserver).toMatch(/^CGO_ENABLED=0 build -trimpath -ldflags -s -w /);
    expect(apiserver).toContain(`-X k8s.io/component-base/version.gitVersion=${kubernetes}`);
    expect(apiserver).toContain("-X k8s.io/client-go/pkg/version.gitMajor=1");
    expect(builds.find((line) => line.endsWith("cmd/kwok"))).toContain(`consts.Version=${kwok}`);
  });

  it("leaves nothing that looks complete when a build fails", async () => {
    const bin = join(folder, "bin");
    executable(join(bin, "go"), '#!/bin/sh\n[ "$1" = version ] && exit 0\necho no such module >&2\nexit 1\n');
    const env = { XDG_CACHE_HOME: folder, PATH: `${bin}:/usr/bin:/bin` };
    await expect(ensureAssets({ env })).rejects.toThrow(/go build of etcd failed.*\n.*no such module/);
    expect(findAssets(env).missing).toEqual([...PROGRAMS]);
    expect(existsSync(`${cacheFolder(env, pinnedVersions())}.lock`)).toBe(false);
  });
});
