/**
 * The vectors that were observed with `kubectl patch --local --type=strategic`; their names are those of the rule book,
 * and those called `own` are this project's.
 */
import { describe, expect, it } from "vitest";
import type { Json, JsonMap } from "../src/index.ts";
import { BASE, inA, inMetadata, inSpec, item, order, remove } from "./golden-template.ts";

/** Items of a list in short: `NAME`, or `NAME=VALUE` where the value is not that of the base. */
function env(fragment: JsonMap): string | undefined {
  const list = inA(fragment).env as JsonMap[] | undefined;
  const before = BASE.spec.containers[0]!.env as JsonMap[];
  return list
    ?.map(({ name, value }) =>
      before.some((item) => item.name === name && item.value === value) ? name : `${name}=${value}`,
    )
    .join(" ");
}

const names = (list: Json | undefined): Json[] => (list as JsonMap[]).map(({ name }) => name!);
describe("items of a merged list", () => {
  it.each([
    ["G01", "DSP-414 puts a new item in front", [item("X", "9")], "X=9 A B C"],
    [
      "G02",
      "DSP-413 puts a new item behind the one it follows",
      [item("B", "b"), item("X", "9")],
      "A B=b X=9 C",
    ],
    [
      "G03",
      "DSP-413 puts a new item in front of the one it precedes",
      [item("X", "9"), item("B", "b")],
      "X=9 A B=b C",
    ],
    [
      "G04",
      "DSP-415 re-orders the items that the patch names",
      [item("C", "c"), item("A", "a")],
      "B C=c A=a",
    ],
    ["G05", "DSP-418 removes an item", [remove("B")], "A C"],
    [
      "G06",
      "DSP-420 replaces an item that is removed and added again",
      [remove("B"), item("B", "z")],
      "B=z A C",
    ],
    ["G07", "DSP-419 replaces the whole list", [{ $patch: "replace" }, item("Z", "9")], "Z=9"],
    [
      "G07",
      "DSP-419 drops what else the marker holds",
      [{ $patch: "replace", ...item("Q", "1") }, item("Z", "9")],
      "Z=9",
    ],
    ["G08", "DSP-419 empties the list", [{ $patch: "replace" }], ""],
    ["G09", "DSP-411 merges items with the same new key", [item("X", "1"), item("X", "2")], "X=2 A B C"],
    ["G10", "DSP-411 merges items with the same known key", [item("A", "8"), item("A", "9")], "A=9 B C"],
    ["G17", "DSP-408 removes a key of an item", [{ name: "A", value: null }], "A=undefined B C"],
    ["G19", "DSP-412 changes nothing with an empty list", [], "A B C"],
  ])("%s %s", (_vector, _rule, patch, expected) => {
    expect(env({ env: patch as JsonMap[] })).toBe(expected);
  });

  it("G18 DSP-408 removes the list with null", () => {
    expect(inA({ env: null })).not.toHaveProperty("env");
  });

  it.each([
    [
      "G22",
      { name: "A", valueFrom: { fieldRef: {} } },
      { name: "A", value: "1", valueFrom: { fieldRef: {} } },
    ],
    [
      "G23",
      { name: "A", value: null, valueFrom: { fieldRef: {} } },
      { name: "A", valueFrom: { fieldRef: {} } },
    ],
  ])("%s DSP-411 merges the maps of items with one key", (_vector, patch, expected) => {
    expect((inA({ env: [patch] }).env as Json[])[0]).toEqual(expected);
  });

  it("G35 DSP-411 merges with the first of two original items of one key", () => {
    expect(inA({ ports: [{ containerPort: 53, protocol: "UDP", hostPort: 53 }] }).ports).toEqual([
      { containerPort: 53, protocol: "UDP", name: "t", hostPort: 53 },
      { containerPort: 53, protocol: "UDP", name: "u" },
    ]);
  });

  it("G36 DSP-411 tells keys of different JSON types apart", () => {
    const ports = inA({ ports: [{ containerPort: "53" }] }).ports as JsonMap[];
    expect(ports.map(({ containerPort }) => containerPort)).toEqual(["53", 53, 53]);
    expect(ports.slice(1)).toEqual(BASE.spec.containers[0]!.ports);
  });

  it("G58 DSP-411 merges with the first constraint of a topology key", () => {
    const patch = [{ topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 5 }];
    expect(inSpec({ topologySpreadConstraints: patch }).topologySpreadConstraints).toEqual([
      { topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 5 },
      { topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 2 },
      { topologyKey: "host", whenUnsatisfiable: "DoNotSchedule", maxSkew: 1 },
    ]);
  });

  it("G59 DSP-413 orders volume mounts by their path", () => {
    const mounts = inA({
      volumeMounts: [{ mountPath: "/w", subPath: "q" }, { mountPath: "/new" }],
    }).volumeMounts;
    expect(mounts).toEqual([
      { name: "v", mountPath: "/v" },
      { name: "w", mountPath: "/w", subPath: "q" },
      { mountPath: "/new" },
    ]);
  });

  it("G60 DSP-410 replaces the atomic list inside a merged item", () => {
    const patch = [
      { ip: "1.1.1.1", hostnames: ["b"] },
      { ip: "2.2.2.2", hostnames: ["c"] },
    ];
    expect(inSpec({ hostAliases: patch }).hostAliases).toEqual(patch);
  });

  it.each([
    ["G50", "DSP-414", [{ name: "c", image: "k" }], ["c", "a", "b"]],
    ["G51", "DSP-415", [item("b"), item("a")], ["b", "a"]],
    ["G52", "DSP-418", [remove("b")], ["a"]],
    ["G52", "DSP-418", [remove("zz")], ["a", "b"]],
  ])("%s %s orders containers as any other list", (_vector, _rule, patch, expected) => {
    expect(names(inSpec({ containers: patch as JsonMap[] }).containers)).toEqual(expected);
  });

  it("G41 DSP-413 puts a new volume behind the one it follows", () => {
    const patch = [
      { name: "w", hostPath: { path: "/q" } },
      { name: "n", emptyDir: {} },
    ];
    expect(names(inSpec({ volumes: patch }).volumes)).toEqual(["v", "w", "n"]);
  });

  it("DSP-418 removes every item of the key", () => {
    expect(inA({ ports: [{ containerPort: 53, $patch: "delete" }] }).ports).toEqual([]);
  });
});

describe("lists of scalars", () => {
  it.each([
    ["G24", "DSP-410 replaces an atomic list", { args: ["--z"] }, ["--z"]],
    ["G25", "DSP-427 removes from an atomic list", { "$deleteFromPrimitiveList/args": ["--x"] }, ["--y"]],
    [
      "G26",
      "DSP-427 passes over what is not there",
      { "$deleteFromPrimitiveList/args": ["--q"] },
      ["--x", "--y"],
    ],
    ["G28", "DSP-426 re-orders an atomic list", { "$setElementOrder/args": ["--y", "--x"] }, ["--y", "--x"]],
  ])("%s %s", (_vector, _rule, patch, expected) => {
    expect(inA(patch as JsonMap).args).toEqual(expected);
  });

  it("G26 DSP-427 passes over a list that is absent, and over what is no list", () => {
    expect(inA({ "$deleteFromPrimitiveList/command": ["--q"] })).not.toHaveProperty("command");
    expect(inA({ "$deleteFromPrimitiveList/image": ["i"] }).image).toBe("i");
  });

  it.each([
    ["G31", "DSP-417 puts a new one in front", { finalizers: ["f/c"] }, ["f/c", "f/a", "f/b"]],
    ["G32", "DSP-417 keeps the order of the patch", { finalizers: ["f/b", "f/c"] }, ["f/a", "f/b", "f/c"]],
    ["own", "DSP-417 holds each once", { finalizers: ["f/c", "f/c", "f/a"] }, ["f/c", "f/a", "f/b"]],
    [
      "G33",
      "DSP-428 DSP-436 adds before it removes",
      { "$deleteFromPrimitiveList/finalizers": ["f/a"], finalizers: ["f/c"] },
      ["f/c", "f/b"],
    ],
    [
      "G34",
      "DSP-426 follows the order that the patch asks for",
      { "$setElementOrder/finalizers": ["f/b", "f/c", "f/a"], finalizers: ["f/c"] },
      ["f/b", "f/c", "f/a"],
    ],
    [
      "own",
      "DSP-436 sets the list and then removes from it",
      { "$deleteFromPrimitiveList/finalizers": ["f/c"], finalizers: ["f/c", "f/d"] },
      ["f/d", "f/a", "f/b"],
    ],
  ])("%s %s", (_vector, _rule, patch, expected) => {
    expect(inMetadata(patch as JsonMap).finalizers).toEqual(expected);
  });

  it("G43 DSP-410 replaces and empties an atomic list of objects", () => {
    expect(inSpec({ tolerations: [{ key: "z" }] }).tolerations).toEqual([{ key: "z" }]);
    expect(inSpec({ tolerations: [] }).tolerations).toEqual([]);
  });
});

describe("the order that a patch asks for", () => {
  it.each([
    ["G11", { env: [item("X", "9")], "$setElementOrder/env": order("C", "X", "A") }, "B C X=9 A"],
    ["G12", { "$setElementOrder/env": order("C", "A") }, "B C A"],
    ["G13", { env: [remove("A"), item("X", "9")], "$setElementOrder/env": order("C", "X", "B") }, "C X=9 B"],
    ["own", { "$setElementOrder/env": order("nowhere", "B", "A") }, "B A C"],
  ])("%s DSP-426 places the items", (_vector, patch, expected) => {
    expect(env(patch as JsonMap)).toBe(expected);
  });

  it("G53 DSP-426 re-orders containers", () => {
    expect(names(inSpec({ "$setElementOrder/containers": order("b", "a") }).containers)).toEqual(["b", "a"]);
  });

  it("DSP-426 leaves a list alone that neither side has", () => {
    expect(inSpec({ "$setElementOrder/initContainers": order("a") })).not.toHaveProperty("initContainers");
  });
});

describe("maps", () => {
  it.each([
    ["G37", "DSP-425", { hostPath: { path: "/d" } }, { name: "v", emptyDir: {}, hostPath: { path: "/d" } }],
    [
      "G38",
      "DSP-424",
      { $retainKeys: ["name", "hostPath"], hostPath: { path: "/d" } },
      { name: "v", hostPath: { path: "/d" } },
    ],
    ["G40", "DSP-408", { emptyDir: null, hostPath: { path: "/d" } }, { name: "v", hostPath: { path: "/d" } }],
  ])("%s %s gives volume v its source", (_vector, _rule, patch, expected) => {
    const volumes = inSpec({ volumes: [{ name: "v", ...patch } as JsonMap] }).volumes as Json[];
    expect(volumes).toEqual([expected, { name: "w", hostPath: { path: "/w" } }]);
  });

  it("G42 DSP-437 leaves no directive in a new item", () => {
    const added = { name: "n", $retainKeys: ["name", "hostPath"], hostPath: { path: "/d" } };
    const volumes = inSpec({ volumes: [added] }).volumes as Json[];
    expect(volumes[0]).toEqual({ name: "n", hostPath: { path: "/d" } });
  });

  it.each([
    [
      "G44",
      "DSP-407 merges key by key",
      { requests: { memory: "2Gi" } },
      { requests: { cpu: "100m", memory: "2Gi" }, limits: { memory: "1Gi" } },
    ],
    [
      "G45",
      "DSP-421 replaces the map",
      { $patch: "replace", requests: { memory: "2Gi" } },
      { requests: { memory: "2Gi" } },
    ],
    ["G46", "DSP-422 empties the map", { $patch: "delete" }, {}],
    ["own", "DSP-422 drops what else the map holds", { $patch: "delete", requests: { cpu: "1" } }, {}],
    [
      "G47",
      "DSP-408 removes a key",
      { requests: { cpu: null } },
      { requests: {}, limits: { memory: "1Gi" } },
    ],
  ])("%s %s", (_vector, _rule, patch, expected) => {
    expect(inA({ resources: patch as JsonMap }).resources).toEqual(expected);
  });

  it("G48 DSP-422 leaves an absent map absent", () => {
    expect(inA({ securityContext: { $patch: "delete" } })).not.toHaveProperty("securityContext");
  });

  it("G54 DSP-424 keeps the named keys of a container", () => {
    expect(inA({ $retainKeys: ["name", "image"], image: "z" })).toEqual({ name: "a", image: "z" });
  });

  it("G55 DSP-408 removes a label and adds another", () => {
    expect(inMetadata({ labels: { app: null, n: "1" } }).labels).toEqual({ n: "1" });
  });

  it("G56 DSP-406 drops the nulls of a map that is new", () => {
    expect(inSpec({ securityContext: { runAsUser: null, fsGroup: 5 } }).securityContext).toEqual({
      fsGroup: 5,
    });
  });

  it("G57 DSP-407 DSP-424 keeps both handlers of a probe unless the patch retains one", () => {
    const httpGet = { port: 80 };
    expect(inA({ livenessProbe: { httpGet } }).livenessProbe).toEqual({
      exec: { command: ["x"] },
      httpGet,
      periodSeconds: 3,
    });
    const retained = { $retainKeys: ["httpGet", "periodSeconds"], httpGet };
    expect(inA({ livenessProbe: retained }).livenessProbe).toEqual({ httpGet, periodSeconds: 3 });
  });
});
