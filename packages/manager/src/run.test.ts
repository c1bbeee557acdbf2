import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControllerModule, Manager, ManagerHandle } from "@quartet/core";
import { createCa, issueServing, validating } from "@quartet/core/webhook";
import { type Double, startDouble, type TestClient, testClient } from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { runCli } from "./cli.ts";
import { ECHO, echoModule, installEcho } from "./echo.testkit.ts";
import { type RunningManager, startManager } from "./run.ts";

let api: Double;
let client: TestClient;
let folder: string;
const running: RunningManager[] = [];
const lines: string[] = [];

/** Adds a controller that chooses its concurrency itself. */
const choosingThree = (name: string) => (manager: Manager) =>
  manager.add(
    manager
      .controller(name)
      .for(ECHO)
      .withOptions({ maxConcurrentReconciles: 3 })
      .complete(async () => {}),
  );

beforeEach(async () => {
  api = await startDouble();
  client = testClient(await api.kubeconfig());
  folder = await mkdtemp(join(tmpdir(), "quartet-run-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((manager) => manager.stop()));
  lines.length = 0;
  client.close();
  await api.stop();
  await rm(folder, { recursive: true });
});

const LOCAL = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=127.0.0.1:0`);

async function start(
  args: string[] = [],
  modules: ControllerModule[] = [echoModule()],
  identity: { user?: string; groups?: string[] } = {},
): Promise<RunningManager> {
  const kubeconfig = join(folder, `${running.length}.yaml`);
  await writeFile(kubeconfig, await api.kubeconfig(identity));
  const manager = await startManager({
    modules,
    args: [...LOCAL, `--kubeconfig=${kubeconfig}`, ...args],
    env: { QUARTET_CACHE_GUARD: "1" },
    logDestination: { write: (line) => lines.push(line) },
    processMetrics: false,
  });
  running.push(manager);
  return manager;
}

const createEcho = (name: string): Promise<unknown> =>
  client.ok("POST", "/apis/test.quartet.io/v1/namespaces/default/echoes", {
    apiVersion: "test.quartet.io/v1",
    kind: "Echo",
    metadata: { name },
    spec: { text: "hello" },
  });

const configMap = (name: string) =>
  client.request<{ data?: { text?: string } }>("GET", `/api/v1/namespaces/default/configmaps/${name}`);

/** Sends JSON over TLS to a server with a certificate of this CA. */
function post(url: string, ca: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const sent = request(url, { method: "POST", ca, headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk)).on("end", () => resolve(JSON.parse(text)));
    });
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

describe("a manager in this process", () => {
  it("reconciles, serves probes and metrics, and stops cleanly", async () => {
    await installEcho(client);
    await createEcho("a");
    const manager = await start();
    await manager.ready;
    await vi.waitFor(async () => expect((await configMap("a-out")).body.data?.text).toBe("hello"));
    const get = async (url: string): Promise<[number, string]> => {
      const response = await fetch(url);
      return [response.status, await response.text()];
    };
    expect(await get(`${manager.urls.health}/healthz`)).toEqual([200, "ok"]);
    expect((await get(`${manager.urls.health}/readyz?verbose`))[1]).toBe(
      "[+]caches ok\n[+]shutdown ok\n[+]controller-echo ok\nreadyz check passed\n",
    );
    const [, metrics] = await get(`${manager.urls.metrics}/metrics`);
    expect(metrics).toMatch(
      /^controller_runtime_reconcile_total\{controller="echo",result="success"\} [1-9]/m,
    );
    expect(metrics).toMatch(/^rest_client_requests_total\{code="200",method="GET"/m);
    expect(metrics).toContain("quartet_build_info{");
    expect(await manager.stop()).toEqual({ code: 0, stuck: [] });
    await expect(fetch(`${manager.urls.health}/healthz`)).rejects.toThrow();
  });

  it("explains an object: queue, last outcome, last writes and caches", async () => {
    await installEcho(client);
    await createEcho("a");
    const manager = await start();
    await vi.waitFor(async () => expect((await configMap("a-out")).code).toBe(200));
    const explain = async (...words: string[]): Promise<{ code: number; out: string; err: string }> => {
      const result = { out: "", err: "" };
      const code = await runCli({
        args: ["explain", ...words, `--debug-bind-address=${new URL(manager.urls.debug!).host}`],
        env: {},
        modules: [echoModule()],
        stdout: { write: (text) => (result.out += text) },
        stderr: { write: (text) => (result.err += text) },
        onSignal: () => () => {},
        exit: () => {},
      });
      return { code, ...result };
    };
    // The ConfigMap is there a moment before its reconcile has ended.
    const { code, out } = await vi.waitFor(async () => {
      const answer = await explain("echo", "default/a");
      expect(answer.out).toContain("lastOutcome");
      return answer;
    });
    expect(code).toBe(0);
    expect(parse(out)).toMatchObject({
      leader: true,
      controllers: [
        {
          controller: "echo",
          object: { found: true, generation: 1, conditions: [] },
          state: "Running",
          queue: { state: "absent" },
          nextPass: "when something changes",
          lastOutcome: { result: "success" },
          lastWrites: expect.arrayContaining([
            { at: expect.any(String), write: "apply configmaps default/a-out", changed: ["(new)"] },
          ]),
        },
      ],
      caches: expect.arrayContaining([{ kind: "Echo.v1.test.quartet.io", state: "synced", objects: 1 }]),
    });
    expect(await explain("pods", "default/a")).toMatchObject({
      code: 1,
      err: expect.stringContaining('works on "pods"'),
    });
    expect((await explain("echo")).code).toBe(2);
  });

  it("CORE-282 is ready although a CRD is missing, and says which controller waits", async () => {
    const manager = await start();
    await manager.ready;
    await vi.waitFor(() => expect(manager.manager.controllers()[0]!.state).toBe("WaitingForCRD"));
    expect(await manager.manager.metrics.render()).toContain(
      'quartet_controller_state{controller="echo",state="WaitingForCRD"} 1',
    );
    await manager.ready;
    expect((await fetch(`${manager.urls.health}/readyz`)).status).toBe(200);
  });

  it("CORE-261 elects no leader with a kubeconfig, unless told to", async () => {
    await installEcho(client);
    await (await start()).leading;
    const leases = (): Promise<{ code: number; body: { items: { spec: { holderIdentity: string } }[] } }> =>
      client.request("GET", "/apis/coordination.k8s.io/v1/namespaces/ops/leases");
    expect((await leases()).body.items).toEqual([]);
    await client.ok("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "ops" },
    });
    const elected = await start(["--leader-elect", "--leader-election-namespace=ops"]);
    await elected.leading;
    expect((await leases()).body.items[0]!.spec.holderIdentity).toMatch(/_[0-9a-f-]{36}$/);
  });

  it("CORE-251 refuses to elect a leader without a namespace for the Lease", async () => {
    await expect(start(["--leader-elect"])).rejects.toThrow("leader election namespace unknown");
  });

  it("CORE-392 opens no watch and keeps no metric for a controller that is switched off", async () => {
    await installEcho(client);
    const manager = await start(
      ["--controllers=other"],
      [echoModule(), { ...echoModule(), name: "other", build() {} }],
    );
    await manager.ready;
    expect(manager.manager.controllers()).toEqual([]);
    expect(await manager.manager.metrics.render()).not.toContain('controller="echo"');
    const requests = await api.requests({ resource: "echoes" });
    expect(requests.filter((request) => request.userAgent.startsWith("quartet-manager"))).toEqual([]);
  });

  it("CORE-398 fails with the missing rules before it builds a cache", async () => {
    await installEcho(client);
    await expect(start([], [echoModule()], { user: "nobody", groups: [] })).rejects.toThrow(
      /missing rights[\s\S]*resources:\n\s+- configmaps/,
    );
    expect(await api.requests({ resource: "configmaps", user: "nobody" })).toEqual([]);
  });

  it("CORE-250 CORE-282 serves the webhooks of modules with certificates of its own, before caches are there", async () => {
    await client.ok("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "ops" },
    });
    const hooked: ControllerModule = {
      ...echoModule(),
      webhooks: [
        validating({
          kind: ECHO,
          operations: ["CREATE"],
          path: "/validate-echo",
          handler: () => () => [{ path: "spec.text", message: "must not be empty" }],
        }),
      ],
    };
    const args = ["--webhook-port=0", "--leader-election-namespace=ops", "--shutdown-delay=0s"];
    const manager = await start(args, [hooked]);
    await manager.ready;
    const probe = await fetch(`${manager.urls.health}/readyz?verbose`);
    expect(await probe.text()).toContain("[+]webhook ok");
    const secret = await client.ok<{ data: Record<string, string> }>(
      "GET",
      "/api/v1/namespaces/ops/secrets/quartet-webhook-cert",
    );
    const review = {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        uid: "u",
        kind: { group: "test.quartet.io", version: "v1", kind: "Echo" },
        resource: { group: "test.quartet.io", version: "v1", resource: "echoes" },
        name: "a",
        operation: "CREATE",
        userInfo: {},
        object: {
          apiVersion: "test.quartet.io/v1",
          kind: "Echo",
          metadata: { name: "a" },
          spec: { text: "" },
        },
      },
    };
    const ca = Buffer.from(secret.data["ca.crt"]!, "base64").toString();
    const answer = await post(`${manager.urls.webhook}/validate-echo`, ca, review);
    expect(answer).toMatchObject({
      response: {
        uid: "u",
        allowed: false,
        status: { message: 'Echo "a" is invalid: spec.text: must not be empty' },
      },
    });
    expect(await manager.manager.metrics.render()).toContain(
      'controller_runtime_webhook_requests_total{webhook="/validate-echo",code="200"} 1',
    );
  });

  it("hands modules their flags, features and namespaces", async () => {
    const seen: { manager?: ManagerHandle | unknown; flags?: unknown } = {};
    const module = echoModule((manager, flags) => {
      seen.manager = { features: manager.features, namespaces: manager.namespaces };
      seen.flags = flags;
    });
    const gate = { name: "Louder", stage: "Beta", since: "0.1.0", help: "in capitals" } as const;
    const gated = { ...module, gates: [gate] };
    const manager = await start(
      ["--echo-resync=5s", "--namespaces=a,b", "--feature-gates=AllBeta=false"],
      [gated],
    );
    const metrics = await manager.manager.metrics.render();
    expect(metrics).toContain('kubernetes_feature_enabled{name="Louder",stage="BETA"} 0');
    expect(seen.flags).toEqual({ "echo-resync": 5_000 });
    expect(seen.manager).toEqual({
      features: { Louder: false },
      namespaces: ["a", "b"],
    });
  });

  it("CORE-265 fails with the error of a module that cannot be built, and leaves nothing running", async () => {
    const broken = {
      ...echoModule(),
      build: () => {
        throw new Error("bad module");
      },
    };
    await expect(start([], [broken])).rejects.toThrow("bad module");
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: "error", msg: "Start failed", error: "bad module" }),
    );
  });

  it("CORE-233 gives controllers the concurrency of the flag; a module's own choice goes before that of all", async () => {
    const manager = await start(
      ["--max-concurrent-reconciles=2,echo=8"],
      [echoModule(choosingThree("quick")), echoModule(choosingThree("slow"), "second")],
    );
    const concurrency = manager.manager
      .controllers()
      .map(({ name, options }) => [name, options.maxConcurrentReconciles]);
    expect(concurrency).toEqual([
      ["quick", 8],
      ["echo", 8],
      ["slow", 3],
      ["second", 2],
    ]);
  });

  it("CORE-283 serves metrics by the certificate of a folder, and names the flag when there is none", async () => {
    await expect(start(["--metrics-secure", `--metrics-cert-dir=${folder}/none`])).rejects.toThrow(
      "--metrics-cert-dir: ENOENT",
    );
    const ca = await createCa(Date.now());
    const leaf = await issueServing(ca, ["localhost"], Date.now());
    await writeFile(join(folder, "tls.crt"), leaf.cert);
    await writeFile(join(folder, "tls.key"), leaf.key);
    const { urls } = await start(["--metrics-secure", `--metrics-cert-dir=${folder}`]);
    const code = await new Promise((resolve, reject) => {
      request(
        `${urls.metrics}/metrics`,
        { ca: ca.cert, servername: "localhost", agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      )
        .on("error", reject)
        .end();
    });
    expect(code).toBe(401);
  });

  it("CORE-400 changes the concurrency of a running controller with the config file, and its gauge", async () => {
    await installEcho(client);
    const file = join(folder, "config.yaml");
    const configure = (count: number): Promise<void> =>
      writeFile(
        file,
        `apiVersion: config.quartet.io/v1alpha1\nkind: ManagerConfig\nmaxConcurrentReconciles: {default: ${count}}\n`,
      );
    await configure(2);
    const manager = await start([`--config=${file}`], [echoModule(choosingThree("slow"))]);
    await manager.ready;
    const [own, controller] = manager.manager.controllers();
    expect(controller?.options.maxConcurrentReconciles).toBe(2);
    await configure(7);
    // The file is looked at every 10 s
    await vi.waitFor(() => expect(controller?.options.maxConcurrentReconciles).toBe(7), 20_000);
    expect(own?.options.maxConcurrentReconciles).toBe(3);
    const metrics = await (await fetch(`${manager.urls.metrics}/metrics`)).text();
    expect(metrics).toContain('controller_runtime_max_concurrent_reconciles{controller="echo"} 7');
  });
});
