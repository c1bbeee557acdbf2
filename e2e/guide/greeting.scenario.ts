/** The guide's controller on both targets: what docs/guides/write-a-controller.md says of it holds. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  createClient,
  createLogging,
  loadConnection,
  parseLogLevels,
  systemClock,
} from "@quartet/core";
import { crashAtEveryCall, type TestProcess, testContext } from "@quartet/core/testkit";
import { type CustomResourceDefinition, installCrds, testNamespace } from "@quartet/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { eventually } from "../core/support/echoes.ts";
import { openStage, type Stage } from "../core/support/stage.ts";
import { CONFIG_MAP, type ConfigMap, GREETING, GROUP, type Greeting } from "./api.ts";
import { createGreetingModule, createReconcile, type GuestBook } from "./greeting.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
  const crd = parse(await readFile(new URL("crd.yaml", import.meta.url), "utf8"));
  await installCrds(stage.client, [crd as CustomResourceDefinition]);
});
afterEach(() => stage.close());

/** A guest book in memory. */
function guestBook(): GuestBook & { readonly guests: Set<string> } {
  const guests = new Set<string>();
  return {
    guests,
    sign: async (guest) => void guests.add(guest),
    strike: async (guest) => void guests.delete(guest),
  };
}

const pathOf = (namespace: string, plural: string): string =>
  `${plural === "configmaps" ? "/api/v1" : `/apis/${GROUP}/v1`}/namespaces/${namespace}/${plural}`;

const get = <T>(plural: string, name: string): Promise<T> =>
  stage.client.ok("GET", `${pathOf(stage.namespace, plural)}/${name}`);

const create = (plural: string, body: object, namespace = stage.namespace): Promise<unknown> =>
  stage.client.ok("POST", pathOf(namespace, plural), body);

const phrases = (phrase: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "phrases" },
  data: { phrase },
});
const greeting = {
  apiVersion: `${GROUP}/v1`,
  kind: "Greeting",
  metadata: { name: "ada" },
  spec: { name: "Ada", phraseFrom: "phrases" },
};

const merge = (plural: string, name: string, body: object): Promise<unknown> =>
  stage.client.ok("PATCH", `${pathOf(stage.namespace, plural)}/${name}`, body, {
    contentType: "application/merge-patch+json",
  });

// #region scenario
it("guide CORE-221 CORE-239 a Greeting waits for its phrase, follows it, and is struck out at its end", async () => {
  const book = guestBook();
  await stage.start({ modules: [createGreetingModule(book)] });
  await create("greetings", greeting);
  await eventually(async () => {
    const { status } = await get<Greeting>("greetings", "ada");
    expect(status?.conditions).toContainEqual(expect.objectContaining({ reason: "PhraseMissing" }));
  });

  await create("configmaps", phrases("Hello"));
  const text = async () => (await get<ConfigMap>("configmaps", "ada-out")).data?.text;
  await eventually(async () => expect(await text()).toBe("Hello, Ada!"));
  await merge("configmaps", "phrases", { data: { phrase: "Welcome" } });
  await eventually(async () => expect(await text()).toBe("Welcome, Ada!"));
  await merge("configmaps", "ada-out", { data: { text: "defaced" } });
  await eventually(async () => expect(await text()).toBe("Welcome, Ada!"));

  expect(book.guests).toContain(`${stage.namespace}/ada`);
  await stage.client.ok("DELETE", `${pathOf(stage.namespace, "greetings")}/ada`);
  await eventually(() => expect(book.guests).toEqual(new Set()));
});
// #endregion

it("guide CORE-241 a dry run tells what it would write, and leaves cluster and guest book alone", async () => {
  const book = guestBook();
  const modules = [createGreetingModule(book)];
  const manager = await stage.start({ modules, args: ["--dry-run-controllers=greeting"] });
  await create("configmaps", phrases("Hello"));
  await create("greetings", greeting);
  await eventually(() =>
    expect(manager.log).toContainEqual(
      expect.objectContaining({
        msg: "Planned change",
        write: `apply configmaps ${stage.namespace}/ada-out`,
        changes: expect.arrayContaining(["+ data.text: Hello, Ada!"]),
      }),
    ),
  );
  expect(book.guests).toEqual(new Set());
  const { metadata, status } = await get<Greeting>("greetings", "ada");
  expect([metadata.finalizers, status]).toEqual([undefined, undefined]);
});

it("guide a ConfigMap of the same name that somebody else made is left alone", async () => {
  const manager = await stage.start({ modules: [createGreetingModule(guestBook())] });
  await create("configmaps", { ...phrases("mine"), metadata: { name: "ada-out" } });
  await create("configmaps", phrases("Hello"));
  await create("greetings", greeting);
  await eventually(() => expect(JSON.stringify(manager.log)).toContain("ConfigMap ada-out is not ours"));
  expect((await get<ConfigMap>("configmaps", "ada-out")).data).toEqual({ phrase: "mine" });
});

interface World {
  readonly client: Client;
  readonly book: ReturnType<typeof guestBook>;
  readonly namespace: string;
  remove(): Promise<void>;
}

/** A namespace of its own with a phrase and a Greeting in it. */
async function openWorld(client: Client): Promise<World> {
  const { name, empty } = await testNamespace(stage.client);
  await create("configmaps", phrases("Hello"), name);
  await create("greetings", greeting, name);
  return { client, book: guestBook(), namespace: name, remove: empty };
}

async function withClient(use: (client: Client) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "quartet-guide-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await stage.server.kubeconfig(), { mode: 0o600 });
  const { log } = createLogging({ levels: parseLogLevels("error"), destination: { write: () => {} } });
  const client = createClient({ connection: await loadConnection({ kubeconfig }), version: "test", log });
  try {
    await use(client);
  } finally {
    client.close();
    await rm(folder, { recursive: true, force: true });
  }
}

it("guide CORE-240 the end is the same whichever call of the reconcile is a process's last", () =>
  withClient(async (client) => {
    // #region crash
    const { crashes } = await crashAtEveryCall<World>({
      setup: () => openWorld(client),
      run: async (process: TestProcess, { book, namespace }) => {
        const sign = (guest: string) => process.call("sign", () => book.sign(guest));
        const reconcile = createReconcile({ ...book, sign }, systemClock);
        await reconcile({ namespace, name: "ada" }, testContext(process.client, client));
      },
      endState: async ({ book, namespace }) => ({
        status: (await client.get(GREETING, { namespace, name: "ada" })).status,
        text: (await client.get(CONFIG_MAP, { namespace, name: "ada-out" })).data,
        guests: book.guests.size,
      }),
      teardown: ({ remove }) => remove(),
    });
    // The guest book, the ConfigMap and the status at the least: killed before and after each
    expect(crashes).toBeGreaterThanOrEqual(6);
    // #endregion
  }));
