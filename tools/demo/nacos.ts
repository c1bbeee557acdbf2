/** What the demo shows of the Nacos controller: a merged configuration, and one roll per change of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestRecord, TestClient } from "@quartet/testing";

/** What a story needs: a cluster, a voice, and the requests since a moment. */
export interface Stage {
  client: TestClient;
  say(text: string): void;
  requests(since: number): Promise<RequestRecord[]>;
}

interface DemoObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string };
}

interface PodList {
  items: { metadata: { name: string; uid: string; annotations?: Record<string, string> } }[];
}

interface NacosStatus {
  status?: { phase?: string; configDigest?: string; readyReplicas?: number };
}

interface StatefulSetStatus {
  status?: { availableReplicas?: number };
}

const PLURALS: Readonly<Record<string, string>> = { ConfigMap: "configmaps", Nacos: "nacos" };
const LIMIT_MS = 90_000;
const POLL_MS = 100;
const NACOS = "/apis/nacos.io/v1alpha1/namespaces/default/nacos/my-nacos";
const USER_CONFIG = "/api/v1/namespaces/default/configmaps/nacos-user-config";
const FINAL_CONFIG = "/api/v1/namespaces/default/configmaps/my-nacos-final-config";
const PODS = "/api/v1/namespaces/default/pods?labelSelector=app%3Dmy-nacos";
const STATEFUL_SET = "/apis/apps/v1/namespaces/default/statefulsets/my-nacos";

/** Applies the sample, edits the user's part of its configuration and tells what follows. */
export async function nacosStory(
  stage: Stage,
  objects: readonly DemoObject[],
  sample: string,
): Promise<void> {
  const { client, say } = stage;
  for (const object of objects) await client.ok("POST", collectionOf(object), object);
  say(`applied ${sample}: ${objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ")}`);

  await until("the cluster is Running", async () => (await nacos(client)).status?.phase === "Running");
  const before = await pods(client);
  const digest = (await nacos(client)).status?.configDigest;
  say(`Nacos my-nacos is Running: ${[...before.keys()].join(", ")}; digest ${digest}`);
  say("merged configuration in ConfigMap my-nacos-final-config:");
  say(indent(await finalConfig(client)));

  // Pods that are not available yet a rolling update replaces all at once: there is nothing to keep up.
  say("each pod must have been ready for ten seconds before the next one may go");
  await until("all pods are available", async () => {
    const { status } = await client.ok<StatefulSetStatus>("GET", STATEFUL_SET);
    return status?.availableReplicas === before.size;
  });
  const edited = Date.now();
  const { data } = await client.ok<{ data: Record<string, string> }>("GET", USER_CONFIG);
  const text = data["user.properties"]!.replace(
    "nacos.console.ui.enabled=true",
    "nacos.console.ui.enabled=false",
  );
  const body = { data: { "user.properties": text } };
  await client.ok("PATCH", USER_CONFIG, body, { contentType: "application/merge-patch+json" });
  say("edited ConfigMap nacos-user-config: nacos.console.ui.enabled=false");

  const replaced = await followRoll(stage, before);
  const expected = [...before.keys()].sort().reverse();
  if (replaced.join() !== expected.join()) {
    throw new Error(`the pods were replaced in the order ${replaced.join(", ")}, not ${expected.join(", ")}`);
  }
  const { status } = await nacos(client);
  const set = await client.ok<{ metadata: { generation: number } }>("GET", STATEFUL_SET);
  say(`new digest ${status?.configDigest} on every pod; StatefulSet generation ${set.metadata.generation}`);
  say(`pods replaced, one by one, each once: ${replaced.join(", ")}`);
  const own = (await stage.requests(edited)).filter(({ userAgent }) =>
    userAgent.startsWith("quartet-manager"),
  );
  const changes = own.filter(
    ({ verb, resource }) => !["watch", "list"].includes(verb) && resource !== "events",
  );
  say(
    `requests of the manager for it: ${changes.map(({ verb, resource }) => `${verb} ${resource}`).join(", ")}`,
  );
}

/** Names the pods as they are replaced, until all of them are and the cluster is Running again. */
async function followRoll({ client, say }: Stage, before: ReadonlyMap<string, string>): Promise<string[]> {
  const replaced: string[] = [];
  let known = new Map(before);
  await until("all pods are replaced", async () => {
    const now = await pods(client);
    for (const [name, uid] of now) {
      if (known.get(name) === uid || uid === before.get(name)) continue;
      replaced.push(name);
      say(`pod ${name} was replaced`);
    }
    known = new Map([...known, ...now]);
    return replaced.length >= before.size && (await nacos(client)).status?.phase === "Running";
  });
  return replaced;
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`after ${LIMIT_MS / 1000} s still waiting until ${what}`);
    await sleep(POLL_MS);
  }
}

function nacos(client: TestClient): Promise<NacosStatus> {
  return client.ok("GET", NACOS);
}

async function finalConfig(client: TestClient): Promise<string> {
  const { data } = await client.ok<{ data: Record<string, string> }>("GET", FINAL_CONFIG);
  return data["application.properties"] ?? "";
}

/** Uid by name, of the pods that there are, in order of their names. */
async function pods(client: TestClient): Promise<Map<string, string>> {
  const { items } = await client.ok<PodList>("GET", PODS);
  const sorted = items.map(({ metadata }) => [metadata.name, metadata.uid] as const).sort();
  return new Map(sorted);
}

function collectionOf({ apiVersion, kind, metadata }: DemoObject): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/namespaces/${metadata.namespace}/${PLURALS[kind]}`;
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `  | ${line}`)
    .join("\n");
}
