/** What was recorded on the peer operator, replayed: digests, bytes, and which steps change the pod template. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { canonicalJson, configDigest } from "../src/desired/digest.ts";
import type { JsonMap, PodTemplate, StatefulSet } from "../src/desired/k8s.ts";
import { type PeerCase, peerCases } from "../src/fixtures.testkit.ts";
import { eventually, type Objects, objectsOf, type Resource } from "./support/objects.ts";
import { openStage, type Stage } from "./support/stage.ts";

/** State of the StatefulSet after a step; `null` when there is none. */
interface Expected {
  readonly templateChanged: boolean;
  readonly replicas: number;
  readonly digest: string | undefined;
}
type Entry = Partial<Expected> | null;

/** What the product does otherwise on purpose, by case and step. */
const DEVIATIONS: Readonly<Record<string, Readonly<Record<number, Entry>>>> = {
  "both sections empty": { 1: null },
  "user ref without name": { 0: { digest: undefined } },
  "finalConfigName changed": { 2: { templateChanged: true } },
  "standalone with two replicas": { 0: null },
  "replicas absent": { 0: { templateChanged: false, replicas: 3, digest: undefined } },
  "scale to zero": { 1: { templateChanged: true, replicas: 0 } },
  "mysql, defaults filled in": { 0: null },
  "image change, then a config edit drags it along": { 2: { templateChanged: true } },
  "wrapper mounts its own application.properties in merged mode": {
    2: { templateChanged: false, replicas: 1, digest: "f879cdaa7ca75aaa" },
  },
  "rollout restart annotation": { 1: { templateChanged: true } },
};

/** Time in which a state must not change any more: more than the debounce of sources. */
const REST_MS = 2_000;

let stage: Stage;
let objects: Objects;
beforeAll(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
  await stage.startManager({ flags: { "nacos-skip-node-check": true }, logLevel: "info" });
});
afterAll(() => stage.close());

const PLURALS: Readonly<Record<string, Resource>> = {
  ConfigMap: "configmaps",
  Nacos: "nacos",
  Service: "services",
  StatefulSet: "statefulsets",
};

async function carryOut({ op, object }: PeerCase["steps"][number]): Promise<void> {
  const { kind, metadata, ...body } = object;
  const resource = PLURALS[kind]!;
  const { name, namespace: _recorded, ...meta } = metadata as { name: string; namespace?: string } & JsonMap;
  if (op === "delete") return objects.delete(resource, name);
  if (op === "merge") {
    const { apiVersion: _version, ...patch } = body;
    return objects.patch(resource, name, { ...patch, metadata: meta });
  }
  if ((await objects.find(resource, name)) === undefined)
    return objects.create(resource, name, { ...body, kind, metadata: meta });
  const { apiVersion: _version, ...patch } = body;
  return objects.patch(resource, name, patch);
}

const find = (name: string): Promise<StatefulSet | undefined> => objects.find("statefulsets", name);

function observed(live: StatefulSet | undefined, before: PodTemplate | undefined): Expected | null {
  if (live === undefined) return null;
  const { template, replicas } = live.spec;
  return {
    templateChanged: before !== undefined && canonicalJson(before) !== canonicalJson(template),
    replicas: replicas ?? 1,
    digest: template.metadata.annotations?.["nacos.io/config-digest"],
  };
}

function expectedOf(row: PeerCase, entry: PeerCase["expect"]["trace"][number]): Expected | null {
  const deviation = DEVIATIONS[row.name]?.[entry.afterStep];
  if (deviation === null || (deviation === undefined && entry.statefulSet === null)) return null;
  const { templateChanged = false, replicas = 1, digest } = entry;
  return { templateChanged, replicas, digest, ...deviation };
}

describe("recorded behaviour of the peer", () => {
  it.concurrent.for(peerCases())("$name", { timeout: 120_000 }, async (row, { expect }) => {
    const name = row.steps.find(({ object }) => object.kind === "Nacos")!.object.metadata.name;
    let before: PodTemplate | undefined;
    for (const [index, step] of row.steps.entries()) {
      // The schema may refuse what the peer's controller left undone.
      if (row.name.startsWith("unknown type")) await carryOut(step).catch(() => {});
      else await carryOut(step);
      const entry = row.expect.trace.find(({ afterStep }) => afterStep === index);
      if (entry === undefined) continue;
      const wanted = expectedOf(row, entry);
      await eventually(async () => expect(observed(await find(name), before)).toEqual(wanted), 60_000);
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      const live = await find(name);
      expect(observed(live, before)).toEqual(wanted);
      before = live?.spec.template;
    }
    const digest = before?.metadata.annotations?.["nacos.io/config-digest"];
    for (const child of row.expect.children) {
      const text = (child.data as Record<string, string> | undefined)?.["application.properties"];
      const own = text && digest && (await objects.find("configmaps", child.metadata.name as string));
      if (!own) continue;
      expect(own.data?.["application.properties"]).toBe(text);
      expect(configDigest(text)).toBe(digest);
    }
  });
});
