import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { attachControlPlane, type ControlPlane } from "../control-plane/attach.ts";
import { type TestNamespace, testNamespace } from "../control-plane/namespace.ts";
import { type TestClient, testClient } from "../request.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

interface Event {
  type: string;
  object: { metadata: { name: string } };
}

let controlPlane: ControlPlane;
let proxy: FaultProxy;
let admin: TestClient;
let namespace: TestNamespace;
const clients: TestClient[] = [];

beforeAll(async () => {
  controlPlane = attachControlPlane(inject("controlPlane"));
  admin = testClient(await controlPlane.kubeconfig());
});
afterAll(() => admin.close());
beforeEach(async () => {
  proxy = await startFaultProxy({ upstream: controlPlane });
  namespace = await testNamespace(admin);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await proxy.stop();
  await namespace.empty();
});

async function through(user: string, groups: string[]): Promise<TestClient> {
  const client = testClient(await proxy.kubeconfig({ user, groups }));
  clients.push(client);
  return client;
}
const configMaps = (): string => `/api/v1/namespaces/${namespace.name}/configmaps`;
const create = (name: string): Promise<unknown> =>
  admin.ok("POST", configMaps(), { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

describe("fault proxy before a real API server", () => {
  it("shows the server the client's own identity", async () => {
    const client = await through("jane", ["devs", "ops"]);
    const review = await client.ok<{ status: { userInfo: object } }>(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    );
    expect(review.status.userInfo).toMatchObject({
      username: "jane",
      groups: ["devs", "ops", "system:authenticated"],
    });
    expect((await client.request("GET", configMaps())).code).toBe(403);
  });

  it("signs its certificate by the CA of the control plane, so its kubeconfigs serve too", async () => {
    expect(proxy.ca).toBe(controlPlane.ca);
    const client = testClient(await controlPlane.kubeconfig({ server: proxy.url }));
    clients.push(client);
    expect((await client.request("GET", "/readyz")).code).toBe(200);
  });

  it("CORE-448 passes a watch on, then cuts it in the middle of a line", async () => {
    const client = await through("quartet", ["system:masters"]);
    await create("a");
    proxy.add({ fault: { kind: "truncate", lines: 2 }, watch: true, path: configMaps(), times: 1 });
    const events = client.stream<Event>(
      `${configMaps()}?watch=true&resourceVersion=0`,
      new AbortController().signal,
    );
    const names = async (): Promise<string> => ((await events.next()).value as Event).object.metadata.name;
    const first = [await names(), await names()].sort();
    expect(first).toEqual(["a", "kube-root-ca.crt"]);
    const broken = events.next();
    await create("b");
    await expect(broken).rejects.toThrow("aborted");
    const again = client.stream<Event>(
      `${configMaps()}?watch=true&resourceVersion=0`,
      new AbortController().signal,
    );
    const all = new Set<string>();
    for (let n = 0; n < 3; n++) all.add(((await again.next()).value as Event).object.metadata.name);
    expect([...all].sort()).toEqual(["a", "b", "kube-root-ca.crt"]);
  });

  it("CORE-448 loses an answer whose work is done", async () => {
    const client = await through("quartet", ["system:masters"]);
    proxy.add({ fault: { kind: "cut", when: "after" }, method: "POST", times: 1 });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lost" } };
    await expect(client.request("POST", configMaps(), body)).rejects.toThrow();
    await client.ok("GET", `${configMaps()}/lost`);
  });
});
