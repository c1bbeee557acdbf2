import { expect, it } from "vitest";
import type { TAccount, TConfig, TDeploy, TImage, TTemplate, TTree } from "../api.gen.ts";
import { echoServer } from "../fixtures.testkit.ts";
import { mutateAccount } from "./account.ts";
import { mutateConfig } from "./config.ts";
import { mutateDeploy } from "./deploy.ts";
import { mutateImage } from "./image.ts";
import { type AnyServer, mutateServer } from "./mutate-server.ts";
import { mutateTemplate } from "./template.ts";
import { mutateTree } from "./tree.ts";

const NOW = "2024-01-01T00:00:00Z";
const AT = Date.parse(NOW);
const metadata = { name: "n", namespace: "t" };
const facts = { nodeImage: { image: "i", secret: "" }, images: [], now: NOW, warn: () => {} };
const release = { id: "v1", image: "i", nodeImage: "n" };
const servers = ["v1beta2", "v1beta3"].map((version) => ({
  ...echoServer({ release, k8s: { replicas: 1, hostPorts: [{ nameRef: "FirstObj", port: 1 }] } }),
  apiVersion: `k8s.tars.io/${version}`,
}));
servers[1]!.spec.k8s = { ...servers[1]!.spec.k8s, readinessGates: ["a"] } as object;

/** Defaulting comes before the schema: it sees whatever a client sends. */
const MUTATIONS: readonly [string, object, (object: never) => unknown][] = [
  ["TServer", servers[0]!, (object: AnyServer) => mutateServer(object, facts)],
  ["TServer of v1beta3", servers[1]!, (object: AnyServer) => mutateServer(object, facts)],
  [
    "TConfig",
    { metadata, app: "A", server: "S", configName: "c", podSeq: "m", configContent: "", activated: true },
    (object: TConfig) => mutateConfig(object, undefined, AT),
  ],
  [
    "TTemplate",
    { metadata, spec: { parent: "p", content: "" } },
    (object: TTemplate) => mutateTemplate(object),
  ],
  [
    "TTree",
    { metadata, businesses: [{ name: "b" }], apps: [{ name: "a", businessRef: "b" }] },
    (object: TTree) => mutateTree(object),
  ],
  [
    "TAccount",
    { metadata, spec: { username: "u", authentication: { password: "secret-1", tokens: [{ name: "t" }] } } },
    (object: TAccount) => mutateAccount(object, undefined, async () => "hash"),
  ],
  [
    "TImage",
    { metadata, imageType: "server", supportedType: ["cpp"], releases: [{ id: "1", image: "i" }] },
    (object: TImage) => mutateImage(object, NOW),
  ],
  [
    "TDeploy",
    { metadata, apply: { app: "A" }, approve: { result: true } },
    (object: TDeploy) => mutateDeploy(object, false),
  ],
];

const WRONG: readonly unknown[] = [null, 7, "x", true, [], [null], [[]], {}, { a: null }];

/** Paths of all members below `value`. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [[...path, key], ...pathsOf(child, [...path, key])]);
}

function withValue(object: object, path: readonly (string | number)[], value: unknown): object {
  const copy = structuredClone(object) as Record<string | number, unknown>;
  const holder = path.slice(0, -1).reduce((at, key) => at[key] as typeof copy, copy);
  if (value === undefined) delete holder[path.at(-1)!];
  else holder[path.at(-1)!] = value;
  return copy;
}

it.each(MUTATIONS)(
  "TARS-API-010 defaulting of a %s leaves another form to the schema",
  async (_, sample, mutate) => {
    const paths = pathsOf(sample).filter(([first]) => first !== "metadata" && first !== "apiVersion");
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      for (const value of [undefined, ...WRONG]) {
        const done = Promise.resolve(withValue(sample, path, value)).then((given) => mutate(given as never));
        await expect(done, `${path.join(".")} = ${JSON.stringify(value)}`).resolves.toBeDefined();
      }
    }
  },
);
