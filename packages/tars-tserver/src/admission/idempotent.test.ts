import { expect, it } from "vitest";
import type { TConfig, TDeploy, TImage, TServer, TTemplate, TTree } from "../api.gen.ts";
import { echoServer, webServer } from "../fixtures.testkit.ts";
import { configVersion, mutateConfig } from "./config.ts";
import { mutateDeploy } from "./deploy.ts";
import { mutateImage } from "./image.ts";
import { type AnyServer, mutateServer } from "./mutate-server.ts";
import { mutateTemplate } from "./template.ts";
import { mutateTree } from "./tree.ts";

const NOW = Date.UTC(2024, 0, 1, 15);
const release = { id: "v1", image: "i:1" };
const server = (object: TServer) => {
  const facts = {
    nodeImage: { image: "n:1", secret: "s" },
    images: [],
    now: "2024-01-01T15:00:00Z",
    warn: () => {},
  };
  return mutateServer(object as AnyServer, facts as never);
};
const config = { metadata: { name: "a" }, app: "A", configName: "c", configContent: "-" } as TConfig;
const kinds: readonly (readonly [string, (object: never) => unknown, object])[] = [
  ["an unreleased TServer", server, echoServer()],
  ["a released TServer", server, echoServer({ release, k8s: { replicas: 7, hostIPC: true } })],
  ["a normal TServer", server, webServer({ replicas: 3 })],
  ["a TServer of v1beta3", server, { ...echoServer({ release }), apiVersion: "k8s.tars.io/v1beta3" }],
  ["a TConfig", (object: TConfig) => mutateConfig(object, object.version ? object : undefined, NOW), config],
  [
    "a TTemplate",
    (object: TTemplate) => mutateTemplate(object),
    { metadata: { name: "a" }, spec: { parent: "b" } },
  ],
  [
    "a TTree",
    (object: TTree) => mutateTree(object),
    { metadata: {}, businesses: [], apps: [{ name: "A", businessRef: "none" }] },
  ],
  [
    "a TImage",
    (object: TImage) => mutateImage(object, "2024-01-01T15:00:00Z"),
    { metadata: {}, imageType: "base", supportedType: ["go"], releases: [release, release] },
  ],
  [
    "a TDeploy",
    (object: TDeploy) => mutateDeploy(object, false),
    { metadata: {}, approve: { result: true } },
  ],
];

it.each(kinds)(
  "TARS-API-008 defaulting of %s changes nothing when it is done again",
  (_what, mutate, object) => {
    const once = mutate(structuredClone(object) as never);
    expect(once).not.toEqual(object);
    expect(mutate(structuredClone(once) as never)).toEqual(once);
  },
);

it("TARS-M-034 D20 configurations of other names that are created at once have other versions, by the 24-hour clock", () => {
  expect(configVersion("a", NOW)).toBe("20240101150000-e8b7be43");
  expect(configVersion("b", NOW)).not.toBe(configVersion("a", NOW));
});
