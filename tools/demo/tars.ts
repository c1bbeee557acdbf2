/** What the demo shows of TARS: a server with its children, and configuration that goes forward and back. */
import type { TestClient } from "@quartet/testing";
import { applySample, changesOf, create, merge, type PodList, type Stage, until } from "./stage.ts";

const SAMPLE = "samples/tars/server.yaml";
const NAMESPACE = "tars-demo";
const TARS = `/apis/k8s.tars.io/v1beta2/namespaces/${NAMESPACE}`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const FIRST = "demo-echoserver-echo-conf-1";
const SECOND = "demo-echoserver-echo-conf-2";

interface Endpoint {
  status?: { pods?: readonly { name: string; presentState?: string }[] };
}

interface Config {
  activated?: boolean;
}

/** Applies the sample, puts a new configuration in force and goes back to the first. */
export async function tarsStory(stage: Stage, nodes: readonly string[]): Promise<void> {
  const { client, say } = stage;
  await applySample(stage, SAMPLE);
  for (const node of nodes) {
    await merge(client, `/api/v1/nodes/${node}`, {
      metadata: { labels: { [`tars.io/node.${NAMESPACE}`]: "" } },
    });
  }
  await until("the server's pods are active", async () => {
    await playTarsnode(client);
    const { status } = await client.ok<Endpoint>("GET", `${TARS}/tendpoints/demo-echoserver`);
    const states = status?.pods?.map(({ presentState }) => presentState) ?? [];
    return states.length === 2 && states.every((state) => state === "Active");
  });
  say("TServer demo-echoserver: Service, StatefulSet and TEndpoint; both pods Active");

  const refused = await client.request<{ message?: string }>(
    "PATCH",
    `${TARS}/tservers/demo-echoserver`,
    { spec: { server: "Other" } },
    { contentType: "application/merge-patch+json" },
  );
  say(`renaming it is refused: ${refused.body.message}`);

  const changed = Date.now();
  await create(client, {
    apiVersion: "k8s.tars.io/v1beta2",
    kind: "TConfig",
    metadata: { name: SECOND, namespace: NAMESPACE },
    ...{ app: "Demo", server: "EchoServer", configName: "echo.conf", configContent: "level=2\n" },
  });
  await until("the new configuration is the one in force", () => inForce(client, SECOND));
  say(`created TConfig ${SECOND}: it took the place of ${FIRST}`);
  await merge(client, `${TARS}/tconfigs/${FIRST}`, { activated: true });
  await until("the first one is in force again", () => inForce(client, FIRST));
  say(`activated ${FIRST} again: rolled back`);
  say(`requests of the controllers for both: ${(await changesOf(stage, changed)).join(", ")}`);
}

/** Tells of each running pod what the tarsnode in it would: that its process serves. */
async function playTarsnode(client: TestClient): Promise<void> {
  const { items } = await client.ok<PodList>("GET", `${PODS}?labelSelector=tars.io%2FServerApp%3DDemo`);
  const condition = { type: "tars.io/active", status: "True", reason: "Active/Active/1", message: "" };
  for (const { metadata, status } of items) {
    const told = status?.conditions?.some(({ type }) => type === condition.type) ?? false;
    if (status?.phase !== "Running" || told) continue;
    const conditions = [...(status.conditions ?? []), condition];
    await merge(client, `${PODS}/${metadata.name}/status`, { status: { conditions } });
  }
}

/** True when the named one, and it alone, is activated. */
async function inForce(client: TestClient, name: string): Promise<boolean> {
  for (const each of [FIRST, SECOND]) {
    const { activated } = await client.ok<Config>("GET", `${TARS}/tconfigs/${each}`);
    if ((activated === true) !== (each === name)) return false;
  }
  return true;
}
