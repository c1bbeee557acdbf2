/** What commands tell of a cluster and its account. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  type CommandContext,
  createClient,
  createLogging,
  loadConnection,
  parseLogLevels,
  systemClock,
} from "@quartet/core";
import { eventually, type TestManager } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { planTunnels, type TunnelPlan, tunnelModule } from "../src/index.ts";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

let manager: TestManager;
const shared = shareStage(async (opened) => {
  manager = await opened.startManager();
});
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

/** A client for a command. */
async function withClient<T>(login: string, use: (client: Client) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "quartet-command-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, login, { mode: 0o600 });
  const { log } = createLogging({ levels: parseLogLevels("error"), destination: { write: () => {} } });
  const connection = await loadConnection({ kubeconfig, log, clock: systemClock });
  const client = createClient({ connection, version: "test", log });
  try {
    return await use(client);
  } finally {
    client.close();
    await rm(folder, { recursive: true });
  }
}

/** What the plan finds, by the rights of the manager. */
async function planned(): Promise<TunnelPlan> {
  const { namespace, cloudflare } = stage;
  const options = { operatorNamespace: namespace, namespaces: [namespace], baseUrl: cloudflare.url };
  const [found] = await withClient(await stage.kubeconfig(), (client) =>
    planTunnels({ client, clock: systemClock, ...options }),
  );
  return found!;
}

/** Runs the command as an administrator; its exit code, and what it printed last. */
async function release(): Promise<[code: number, text: string]> {
  const command = tunnelModule.commands!.find(({ words }) => words === "tunnel release")!;
  let last = "";
  const print = (text: string): void => {
    last = text;
  };
  const { signal } = new AbortController();
  const code = await withClient(await stage.server.kubeconfig(), (client) =>
    command.run({ client, clock: systemClock, lease: "quartet-manager", signal, print } as CommandContext),
  );
  return [code, last];
}

/** Objects with something in the account. */
const MADE = [
  ["ClusterTunnel", "main"],
  ["DNSRecord", "a"],
  ["VirtualNetwork", "office"],
] as const;

describe("commands", () => {
  it("TUN-639 a plan says what is not transmitted yet and what somebody else has changed, and changes nothing", async () => {
    await stage.create("Tunnel", "none", {
      spec: { newTunnel: { name: "x" }, existingTunnel: { name: "x" } },
    });
    await eventually(async () =>
      expect(await stage.ready("Tunnel", "none")).toMatchObject({ reason: "InvalidSpec" }),
    );
    expect(await planned()).toMatchObject({
      tunnelId: "",
      problem: expect.stringContaining("mutually exclusive"),
    });
    await stage.remove("Tunnel", "none");
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    await eventually(async () => expect((await stage.document(id))?.syncStatus).toBe("Synced"));
    const inStep = { tunnelId: id, objects: ["ClusterTunnel/main"], rules: 1, unsent: [], foreign: [] };
    expect(await planned()).toMatchObject(inStep);

    await stage.patch("ClusterTunnel", "main", {
      metadata: { annotations: { "cloudflare-operator.io/pause": "true" } },
    });
    await eventually(async () =>
      expect(await stage.ready("ClusterTunnel", "main")).toMatchObject({ reason: "Paused" }),
    );
    await stage.ingress("b", "b.example.com", "two");
    const config = {
      ingress: [{ hostname: "x.example.com", service: "http://x:80" }, { service: "http_status:404" }],
    };
    const body = JSON.stringify({ config });
    await fetch(`${stage.cloudflare.origin}/admin/configurations/${id}`, { method: "POST", body });
    const transmitted = stage.puts().length;
    const { namespace } = stage;
    expect(await planned()).toMatchObject({
      unsent: [
        `+ b.example.com, every path: http://two.${namespace}.svc:80; asked for by Ingress/${namespace}/b`,
      ],
      foreign: [
        `- a.example.com, every path: http://one.${namespace}.svc:80`,
        "+ x.example.com, every path: http://x:80",
      ],
    });
    expect(stage.puts().length).toBe(transmitted);
    stage.cloudflare.faults.add({ path: /cfd_tunnel/, method: /GET/, status: 403 });
    expect((await planned()).problem).toContain("403");
    stage.cloudflare.faults.clear();
  });

  it("TUN-479 TUN-480 TUN-481 TUN-641 what is served but hardly meant so is told to its owners, and in the plan", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.create("Service", "web", { spec: { ports: [{ port: 8080 }] } });
    await stage.create("TunnelBinding", "broad", {
      subjects: [{ name: "x", spec: { fqdn: "a.example.com", path: "/pay", target: "http://x:80" } }],
      tunnelRef: { kind: "ClusterTunnel", name: "main" },
    });
    await stage.ingress("pay", "a.example.com", "web", "/pay");
    await stage.ingress("wild", "*.example.com", "web");
    await eventually(() => expect(stage.hosts(id)).toHaveLength(4));
    const told: [name: string, ...texts: RegExp[]][] = [
      [
        "pay",
        /^Warning RuleShadowed .*TunnelBinding\/.*\/broad/,
        /^Warning PortNotInService .*no port 80, its ports: 8080/,
      ],
      [
        "wild",
        /^Warning WildcardDepth .*not example\.com itself/,
        /^Warning ApexWithoutRule no rule serves example\.com/,
        /^Warning PortNotInService /,
      ],
    ];
    for (const [name, ...texts] of told)
      await eventually(async () => {
        const events = await stage.events(name);
        for (const text of texts) expect(events).toContainEqual(expect.stringMatching(text));
      });
    const { warnings } = await planned();
    expect(warnings).toContainEqual(
      expect.stringMatching(/^Ingress\/.*\/pay: a\.example\.com, .* is never reached/),
    );
    expect(warnings).toContainEqual(
      expect.stringMatching(/^Ingress\/.*\/wild: \*\.example\.com serves every name/),
    );
  });

  it("TUN-660 TUN-661 TUN-662 TUN-663 a tunnel is held at a former version as long as the annotation says so", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    const origin = (): string => stage.remote(id).ingress[0].service;
    const history = async (): Promise<Loose[]> =>
      JSON.parse((await stage.get("ConfigMap", `tunnel-config-${id}`)).data["history.json"]);
    const condition = async (type: string): Promise<Loose> =>
      (await stage.get("ClusterTunnel", "main")).status.conditions.find((one: Loose) => one.type === type);
    const rollBack = (version: string | null) =>
      stage.patch("ClusterTunnel", "main", {
        metadata: { annotations: { "cloudflare-operator.io/rollback-to": version } },
      });
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(origin()).toContain("one."));
    await eventually(async () => expect((await history())[0].rules).toBe(1));
    const { version } = (await history())[0];
    const [rule] = (await stage.get("Ingress", "a")).spec.rules;
    rule.http.paths[0].backend.service.name = "two";
    await stage.patch("Ingress", "a", { spec: { rules: [rule] } });
    await eventually(() => expect(origin()).toContain("two."));

    await rollBack(String(version));
    await eventually(() => expect(origin()).toContain("one."));
    const kept = await history();
    await eventually(async () =>
      expect(await condition("RolledBack")).toMatchObject({
        status: "True",
        message: expect.stringContaining(`version ${version}`),
      }),
    );
    await stage.ingress("b", "b.example.com", "b");
    const waiting = { held: expect.stringContaining("rollback-to"), foreign: [] };
    await eventually(async () =>
      expect(await planned()).toMatchObject({
        ...waiting,
        unsent: expect.arrayContaining([expect.stringContaining("+ b.example.com")]),
      }),
    );
    expect(stage.hosts(id)).toEqual(["a.example.com", undefined]);
    expect(await history()).toEqual(kept);

    await rollBack("9999");
    await eventually(async () =>
      expect(await condition("ConfigSynced")).toMatchObject({
        status: "False",
        reason: "InvalidRollback",
        message: expect.stringMatching(/rollback-to"\]: "9999" .* name one of [0-9, ]+, or remove/),
      }),
    );
    expect(origin()).toContain("one.");
    await rollBack(null);
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", undefined]));
    expect(origin()).toContain("two.");
    await eventually(async () =>
      expect(await condition("RolledBack")).toMatchObject({ status: "False", reason: "Released" }),
    );
  });

  it("TUN-1015 what is released outlives its objects in the account, and is found again by them", async () => {
    const make = async (): Promise<string> => {
      await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
      await stage.create("DNSRecord", "a", {
        spec: { name: "a.example.com", type: "A", content: "192.0.2.1" },
      });
      await stage.create("VirtualNetwork", "office", { spec: { comment: "hq" } });
      for (const [kind, name] of MADE)
        await eventually(async () => expect(await stage.ready(kind, name)).toMatchObject({ status: "True" }));
      return stage.activeTunnel("main");
    };
    const inAccount = () => [
      [...stage.cloudflare.state.tunnels.values()].map(({ fields }) => [fields.id, fields.deleted_at]),
      [...stage.cloudflare.state.zones.get("test-zone-id")!.records.values()],
      [...stage.cloudflare.state.lists.networks.values()],
    ];
    const id = await make();
    expect(await release()).toEqual([1, expect.stringContaining("a manager runs")]);
    const before = structuredClone(inAccount());
    await manager.stop();
    expect(await release()).toEqual([0, expect.stringMatching(/^[0-9]+ released; /)]);
    for (const [kind, name] of MADE) {
      await stage.remove(kind, name);
      await eventually(async () => expect(await stage.find(kind, name)).toBeUndefined());
    }
    expect(inAccount()).toEqual(before);
    // What it owned goes with the tunnel object on a real control plane alone.
    for (const [kind, name] of [
      ["Deployment", "main"],
      ["Secret", "main"],
      ["Secret", "main-token"],
    ] as const)
      await stage.remove(kind, name);
    manager = await stage.startManager();
    expect(await make()).toBe(id);
    expect(inAccount()).toEqual(before);
  });
});
