/** What the demo shows of the Nacos controller: a merged configuration, and one roll per change of it. */
import type { TestClient } from "@quartet/testing";
import { applySample, changesOf, merge, podsAt, type Stage, until } from "./stage.ts";

interface NacosStatus {
  status?: { phase?: string; configDigest?: string; readyReplicas?: number };
}

interface StatefulSetStatus {
  metadata: { generation: number };
  status?: { availableReplicas?: number };
}

const SAMPLE = "samples/nacos/cluster.yaml";
const NACOS = "/apis/nacos.io/v1alpha1/namespaces/default/nacos/my-nacos";
const USER_CONFIG = "/api/v1/namespaces/default/configmaps/nacos-user-config";
const FINAL_CONFIG = "/api/v1/namespaces/default/configmaps/my-nacos-final-config";
const PODS = "/api/v1/namespaces/default/pods?labelSelector=app%3Dmy-nacos";
const STATEFUL_SET = "/apis/apps/v1/namespaces/default/statefulsets/my-nacos";

/** Applies the sample, edits the user's part of its configuration and tells what follows. */
export async function nacosStory(stage: Stage): Promise<void> {
  const { client, say } = stage;
  await applySample(stage, SAMPLE);

  await until("the cluster is Running", async () => (await nacos(client)).status?.phase === "Running");
  const before = await podsAt(client, PODS);
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
  await merge(client, USER_CONFIG, { data: { "user.properties": text } });
  say("edited ConfigMap nacos-user-config: nacos.console.ui.enabled=false");

  const replaced = await followRoll(stage, before);
  const expected = [...before.keys()].sort().reverse();
  if (replaced.join() !== expected.join()) {
    throw new Error(`the pods were replaced in the order ${replaced.join(", ")}, not ${expected.join(", ")}`);
  }
  const { status } = await nacos(client);
  const set = await client.ok<StatefulSetStatus>("GET", STATEFUL_SET);
  say(`new digest ${status?.configDigest} on every pod; StatefulSet generation ${set.metadata.generation}`);
  say(`pods replaced, one by one, each once: ${replaced.join(", ")}`);
  say(`requests of the controller for it: ${(await changesOf(stage, edited)).join(", ")}`);
}

/** Names the pods as they are replaced, until all of them are and the cluster is Running again. */
async function followRoll({ client, say }: Stage, before: ReadonlyMap<string, string>): Promise<string[]> {
  const replaced: string[] = [];
  let known = new Map(before);
  await until("all pods are replaced", async () => {
    const now = await podsAt(client, PODS);
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

function nacos(client: TestClient): Promise<NacosStatus> {
  return client.ok("GET", NACOS);
}

async function finalConfig(client: TestClient): Promise<string> {
  const { data } = await client.ok<{ data: Record<string, string> }>("GET", FINAL_CONFIG);
  return data["application.properties"] ?? "";
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `  | ${line}`)
    .join("\n");
}
