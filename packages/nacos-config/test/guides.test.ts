/** The documents in the guides, and the samples, can be applied as they stand. */
import { readdirSync, readFileSync } from "node:fs";
import { type CustomResourceDefinition, installCrds, startDouble, testClient } from "@quartet/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { validate } from "../src/admission/validate.ts";
import type { Nacos } from "../src/api.gen.ts";

const guides = new URL("../../../docs/guides/", import.meta.url);
const samples = new URL("../../../samples/nacos/", import.meta.url);
const read = (text: string): Nacos[] => parseAllDocuments(text).map((document) => document.toJS() as Nacos);
const documents: [where: string, object: Nacos][] = [
  ...readdirSync(guides)
    .filter((file) => file.startsWith("nacos"))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, guides), "utf8");
      const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
      return blocks.flatMap(read).map((object): [string, Nacos] => [file, object]);
    }),
  ...readdirSync(samples).flatMap((file) =>
    read(readFileSync(new URL(file, samples), "utf8")).map((object): [string, Nacos] => [file, object]),
  ),
];
const PLURALS: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Secret: "secrets",
  Nacos: "nacos",
};

/** A merged file replaces the image's own, so these are in it or nowhere (rule book, section 5). */
const AUTH_PROPERTIES = [
  "nacos.core.auth.plugin.nacos.token.secret.key",
  "nacos.core.auth.server.identity.key",
  "nacos.core.auth.server.identity.value",
];

describe("guides", () => {
  let stop: () => Promise<void>;
  let create: (object: Nacos) => Promise<void>;
  beforeAll(async () => {
    const server = await startDouble();
    const client = testClient(await server.kubeconfig());
    const crd = readFileSync(new URL("../../../crds/nacos.io_nacos.yaml", import.meta.url), "utf8");
    await installCrds(client, [parse(crd) as CustomResourceDefinition]);
    create = async (object) => {
      const path = object.kind === "Nacos" ? "/apis/nacos.io/v1alpha1" : "/api/v1";
      const query = "fieldValidation=Strict&dryRun=All";
      await client.ok("POST", `${path}/namespaces/default/${PLURALS[object.kind]}?${query}`, object);
    };
    stop = async () => {
      client.close();
      await server.stop();
    };
  });
  afterAll(() => stop());

  it("holds documents", () => {
    expect(documents.length).toBeGreaterThan(5);
  });

  it.each(
    documents.map(([where, object]) => [`${where}: ${object.kind} ${object.metadata.name}`, object] as const),
  )("%s", async (_name, object) => {
    await create(object);
    if (object.kind === "Nacos") expect(validate(object)).toEqual([]);
  });

  it.each(readdirSync(samples))("%s has what its Nacos needs to start with authentication", (file) => {
    const texts = readFileSync(new URL(file, samples), "utf8");
    const asksForLogin = /nacos-server:v3|nacos\.core\.auth\.enabled=true/.test(texts);
    for (const property of asksForLogin ? AUTH_PROPERTIES : []) expect(texts).toContain(`${property}=`);
  });

  it("samples have names of their own, so that all can be applied together", () => {
    const names = readdirSync(samples).flatMap((file) =>
      read(readFileSync(new URL(file, samples), "utf8")).map(
        ({ kind, metadata }) => `${kind} ${metadata.name}`,
      ),
    );
    expect(names).toEqual([...new Set(names)]);
  });
});
