import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { record } from "../apiserver-double/json.ts";
import type { CustomResourceDefinition } from "../control-plane/index.ts";
import { createRandom } from "./random.ts";
import { hostileKind, hostileResource } from "./resources.ts";

const CRDS = new URL("../../../../crds/", import.meta.url);
const definitions = readdirSync(CRDS).map(
  (file) => parse(readFileSync(new URL(file, CRDS), "utf8")) as CustomResourceDefinition,
);

it("CORE-478 makes the same resources of one seed, and others of another", () => {
  for (const definition of definitions) {
    const kind = hostileKind(definition);
    const make = (seed: number) => {
      const random = createRandom(seed);
      return JSON.stringify(Array.from({ length: 20 }, () => hostileResource(kind, random, undefined)));
    };
    expect(make(7), kind.kind).toBe(make(7));
    expect(make(7), kind.kind).not.toBe(make(8));
  }
});

it("CORE-478 changes a sound resource in some fields, and keeps its kind", () => {
  const kind = hostileKind(definitions.find(({ metadata }) => metadata.name === "nacos.nacos.io")!);
  const base = { spec: { type: "cluster", replicas: 3, image: "nacos/nacos-server:v2.4.3" } };
  const random = createRandom(1);
  const made = Array.from({ length: 200 }, () => hostileResource(kind, random, base));
  expect(new Set(made.map((one) => `${one.apiVersion} ${one.kind}`))).toEqual(
    new Set(["nacos.io/v1alpha1 Nacos"]),
  );
  expect(made.filter(({ spec }) => record(spec).type === "cluster").length).toBeGreaterThan(50);
  expect(new Set(made.map((one) => JSON.stringify(one))).size).toBeGreaterThan(150);
});
