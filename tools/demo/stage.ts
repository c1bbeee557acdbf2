/** What the stories of the demo share: a cluster, a voice, and waiting. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestRecord, TestClient } from "@quartet/testing";
import { parseAllDocuments } from "yaml";
import { repository } from "../paths.ts";

/** What a story needs. */
export interface Stage {
  readonly client: TestClient;
  /** Prints a line under the story's name. */
  say(text: string): void;
  /** Requests since a moment, in milliseconds since the Unix epoch, whose user agent ends with a controller of the story. */
  requests(since: number): Promise<RequestRecord[]>;
}

/** An object of a sample. */
export interface SampleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** A list of pods, as far as stories read them. */
export interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly spec: {
      readonly nodeName?: string;
      readonly containers: readonly {
        readonly env?: readonly { readonly name: string; readonly value?: string }[];
      }[];
    };
    readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string }[] };
  }[];
}

/** Longest wait for one step. */
const LIMIT_MS = 90_000;
const POLL_MS = 100;

/** Creates the objects of a sample as it stands in the repository, and says so. */
export async function applySample(
  { client, say }: Stage,
  sample: string,
  change: (text: string) => string = (text) => text,
): Promise<void> {
  const text = change(readFileSync(`${repository}/${sample}`, "utf8"));
  const objects = parseAllDocuments(text).map((document) => document.toJS() as SampleObject);
  for (const object of objects) await create(client, object);
  say(`applied ${sample}: ${objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ")}`);
}

/** Creates an object; namespaced ones without a namespace in `default`. */
export async function create(client: TestClient, object: SampleObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources } = await client.ok<ResourceList>("GET", root);
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  if (found === undefined) throw new Error(`the server has no ${kind} in ${apiVersion}`);
  const scope = found.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
  await client.ok("POST", `${root}${scope}/${found.name}`, object);
}

/** Merges into the object at the path. */
export async function merge(client: TestClient, path: string, patch: unknown): Promise<void> {
  await client.ok("PATCH", path, patch, { contentType: "application/merge-patch+json" });
}

/** Waits until the check holds; fails with what it waited for. */
export async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`after ${LIMIT_MS / 1000} s still waiting until ${what}`);
    await sleep(POLL_MS);
  }
}

/** What the story's controllers wrote since a moment: `update configmaps`, in order, events aside. */
export async function changesOf(stage: Stage, since: number): Promise<string[]> {
  return (await stage.requests(since))
    .filter(({ verb, resource }) => !["watch", "list", "get"].includes(verb) && resource !== "events")
    .map(
      ({ verb, resource, subresource }) =>
        `${verb} ${resource}${subresource === "" ? "" : "/"}${subresource}`,
    );
}

/** Name and uid of the pods that there are, in order of their names. */
export async function podsAt(client: TestClient, path: string): Promise<Map<string, string>> {
  const { items } = await client.ok<PodList>("GET", path);
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid] as const).sort());
}
