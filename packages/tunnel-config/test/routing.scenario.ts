/** The acceptance scenarios of section 12 about which rule serves what. */
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@quartet/testing/stage";
import { routesOf } from "@quartet/tunnel-ingress";
import { beforeEach, describe, expect, it } from "vitest";
import { shareStage, type TunnelStage } from "./support/stage.ts";

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

async function createTunnel(): Promise<string> {
  await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
  return stage.activeTunnel("main");
}

describe("routing", () => {
  it("tunnel-config A4 TUN-411 TUN-602 TUN-606 a wildcard of a binding does not hide the host of an Ingress", async () => {
    const id = await createTunnel();
    const subjects = [{ name: "wild", spec: { fqdn: "*.example.com", target: "http://wild:80" } }];
    await stage.create("TunnelBinding", "wild", {
      subjects,
      tunnelRef: { kind: "ClusterTunnel", name: "main" },
    });
    await stage.ingress("app", "app.example.com", "app");
    await eventually(() => expect(stage.hosts(id)).toEqual(["app.example.com", "*.example.com", undefined]));
    const serve = routesOf(stage.remote(id).ingress);
    expect([serve("app.example.com", "/"), serve("x.example.com", "/"), serve("example.com", "/")]).toEqual([
      0, 1, 2,
    ]);
    await eventually(async () =>
      expect((await stage.get("TunnelBinding", "wild")).status.hostnames).toBe("*.example.com"),
    );
  });

  it("tunnel-config A5 TUN-621 TUN-622 TUN-623 of two claims the older is served, then the other", async () => {
    const id = await createTunnel();
    await stage.ingress("first", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toContain("a.example.com"));
    await sleep(1100);
    await stage.ingress("second", "a.example.com", "two");
    const { namespace } = stage;
    const conflict = {
      hostname: "a.example.com",
      path: "",
      winner: `Ingress/${namespace}/first`,
      losers: [`Ingress/${namespace}/second`],
    };
    await eventually(async () => expect((await stage.document(id))?.conflicts).toEqual([conflict]));
    const told = async () => (await stage.events("second")).filter((text) => text.includes("RuleConflict"));
    await eventually(async () =>
      expect(await told()).toEqual([expect.stringContaining("already served by Ingress/")]),
    );
    expect(stage.remote(id).ingress[0].service).toContain("one.");
    await stage.remove("Ingress", "first");
    await eventually(() => expect(stage.remote(id).ingress[0].service).toContain("two."));
    await eventually(async () => expect(await told()).toHaveLength(2));
  });

  it("tunnel-config A10 TUN-415 TUN-619 TUN-707 one bad rule is left out and named, its neighbours are served", async () => {
    const id = await createTunnel();
    for (const name of ["a", "b", "c"]) await stage.ingress(name, `${name}.example.com`, name);
    const subjects = [
      { name: "x", spec: { fqdn: "bad.example.com", target: "ftp://x:21" } },
      { name: "y", spec: { fqdn: "y.example.com", target: "http://y:80", path: "^/(?!x)" } },
      { name: "z", spec: { fqdn: "z.example.com" } },
    ];
    await stage.create("TunnelBinding", "bad", {
      subjects,
      tunnelRef: { kind: "ClusterTunnel", name: "main" },
    });
    await eventually(() =>
      expect(stage.hosts(id)).toEqual([
        "z.example.com",
        "a.example.com",
        "b.example.com",
        "c.example.com",
        undefined,
      ]),
    );
    expect(stage.remote(id).ingress[0].service).toBe("http_status:404");
    await eventually(async () => expect((await stage.document(id))?.rejected).toHaveLength(2));
    await eventually(async () =>
      expect(await stage.events("bad")).toContainEqual(expect.stringContaining("RuleRejected")),
    );
    await eventually(async () =>
      expect(await stage.ready("TunnelBinding", "bad")).toMatchObject({
        status: "False",
        reason: "RuleRejected",
      }),
    );
    expect(JSON.stringify(stage.puts())).not.toContain("ftp:");
  });

  it("tunnel-config A10 TUN-630 what the API refuses of one source keeps no other from being changed", async () => {
    const id = await createTunnel();
    for (const name of ["a", "b"]) await stage.ingress(name, `${name}.example.com`, name);
    await eventually(() => expect(stage.hosts(id)).toHaveLength(3));
    const error = { status: 400, code: 1056, message: "Bad Configuration: Rule #2 is not valid" };
    stage.cloudflare.faults.add({ path: /configurations/, method: /PUT/, body: /poison/, ...error });
    await stage.ingress("bad", "bad.example.com", "poison");
    await eventually(async () =>
      expect(await stage.events("bad")).toContainEqual(expect.stringContaining("Rule #2 is not valid")),
    );
    await stage.ingress("c", "c.example.com", "c");
    await eventually(() =>
      expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", "c.example.com", undefined]),
    );
    const { syncStatus, rejected } = (await stage.document(id))!;
    expect([syncStatus, rejected]).toMatchObject(["Synced", [{ source: `Ingress/${stage.namespace}/bad` }]]);
    const [rule] = (await stage.get("Ingress", "bad")).spec.rules;
    rule.http.paths[0].backend.service.name = "cured";
    await stage.patch("Ingress", "bad", { spec: { rules: [rule] } });
    await eventually(() => expect(stage.hosts(id)).toContain("bad.example.com"));
    await eventually(async () => expect((await stage.document(id))?.rejected).toEqual([]));
  });

  it("TUN-308 TUN-418 TUN-419 TUN-420 TUN-422 TUN-423 TUN-424 TUN-425 a binding waits for its tunnel, is served, and takes its records along", async () => {
    const { records } = stage.cloudflare.state.zones.get("test-zone-id")!;
    const foreign = {
      id: "theirs",
      name: "old.example.com",
      type: "CNAME",
      content: "x.org",
      ttl: 1,
      tags: [],
    };
    records.set("theirs", { ...foreign, comment: null });
    const subject = (host: string) => ({ name: "x", spec: { fqdn: host, target: "http://x:80" } });
    await stage.create("TunnelBinding", "b", {
      metadata: { finalizers: ["cloudflare-operator.io/finalizer"] },
      subjects: [subject("a.example.com"), subject("old.example.com")],
      tunnelRef: { kind: "ClusterTunnel", name: "main" },
    });
    await eventually(async () =>
      expect(await stage.ready("TunnelBinding", "b")).toMatchObject({ status: "False", reason: "ErrTunnel" }),
    );
    const id = await createTunnel();
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", "old.example.com", undefined]));
    await eventually(async () => {
      const { status, metadata } = await stage.get("TunnelBinding", "b");
      expect(status.hostnames).toBe("a.example.com,old.example.com");
      expect(metadata.annotations["cloudflare-operator.io/previous-hostnames"]).toBe(status.hostnames);
      expect(metadata.finalizers).toBeUndefined();
      expect(await stage.ready("DNSRecord", "b-old-example-com")).toMatchObject({
        reason: "AdoptionConflict",
      });
      expect(await stage.ready("DNSRecord", "b-a-example-com")).toMatchObject({ status: "True" });
    });
    await stage.patch("TunnelBinding", "b", { subjects: [subject("old.example.com")] });
    await eventually(async () => {
      expect(stage.hosts(id)).toEqual(["old.example.com", undefined]);
      expect([...records.keys()]).toEqual(["theirs"]);
    });
    await eventually(async () => {
      const told = await stage.events("b");
      for (const reason of ["Deprecated", "ErrTunnel"])
        expect(told).toContainEqual(expect.stringContaining(`Warning ${reason} `));
    });
    await Promise.all([stage.remove("ClusterTunnel", "main"), stage.remove("TunnelBinding", "b")]);
    await eventually(async () => {
      expect(await stage.find("TunnelBinding", "b")).toBeUndefined();
      expect(await stage.find("ClusterTunnel", "main")).toBeUndefined();
    });
    expect([...records.keys()]).toEqual(["theirs"]);
  });

  it("TUN-473 TUN-474 TUN-477 TUN-478 an Ingress follows its class, its Services and its hosts", async () => {
    const parameters = {
      apiGroup: "networking.cloudflare-operator.io",
      kind: "TunnelIngressClassConfig",
      name: "own",
      namespace: stage.namespace,
      scope: "Namespace",
    };
    await stage.create("IngressClass", "own", {
      spec: { controller: "cloudflare-operator.io/ingress-controller", parameters },
    });
    const backend = { service: { name: "web", port: { name: "web" } } };
    const rule = (host: string) => ({ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } });
    await stage.create("Ingress", "i", {
      spec: { ingressClassName: "own", rules: [rule("a.example.com"), rule("b.example.com")] },
    });
    await eventually(async () =>
      expect(await stage.events("i")).toContainEqual(expect.stringContaining("Warning ConfigError ")),
    );
    const id = await createTunnel();
    await stage.create("TunnelIngressClassConfig", "own", {
      spec: { tunnelRef: { kind: "ClusterTunnel", name: "main" }, dnsProxied: false },
    });
    const served = (): string => stage.remote(id)?.ingress[0].service;
    await eventually(() => expect(served()).toBe("http_status:503"));
    await stage.create("Service", "web", { spec: { ports: [{ name: "web", port: 8080 }] } });
    await eventually(() => expect(served()).toContain(":8080"));
    await eventually(async () => {
      const { spec } = await stage.get("DNSRecord", "i-a-example-com");
      expect([spec.content, spec.proxied]).toEqual([`${id}.cfargotunnel.com`, false]);
      expect((await stage.get("TunnelIngressClassConfig", "own")).status).toMatchObject({
        ingressCount: 1,
        tunnelId: id,
        state: "active",
      });
    });
    await stage.patch("Ingress", "i", { spec: { rules: [rule("b.example.com")] } });
    await eventually(async () => expect(await stage.find("DNSRecord", "i-a-example-com")).toBeUndefined());
    await eventually(async () => expect(await stage.find("DNSRecord", "i-b-example-com")).toBeDefined());
    const config = (spec: object) => stage.patch("TunnelIngressClassConfig", "own", { spec });
    await config({ dnsManagement: "Manual" });
    await eventually(async () => expect(await stage.find("DNSRecord", "i-b-example-com")).toBeUndefined());
    await eventually(() => expect(stage.hosts(id)).toEqual(["b.example.com", undefined]));
    await config({ watchNamespaces: ["elsewhere"] });
    await eventually(() => expect(stage.hosts(id)).toEqual([undefined]));
  });

  it("TUN-307 TUN-317 TUN-320 what somebody writes into the ConfigMap does not reach the account, and is put right", async () => {
    const id = await createTunnel();
    await stage.ingress("a", "a.example.com", "a");
    const name = `tunnel-config-${id}`;
    const sources = async () => JSON.stringify((await stage.document(id))?.sources);
    await eventually(async () => expect(await sources()).toContain("a.example.com"));
    const { metadata, data } = await stage.get("ConfigMap", name);
    expect(metadata).toMatchObject({
      labels: { "cloudflare-operator.io/tunnel-id": id, "cloudflare-operator.io/type": "tunnel-config" },
      ownerReferences: [{ kind: "ClusterTunnel", name: "main", controller: true }],
    });
    const from = stage.puts().length;
    const edited = data["config.json"].replace("http://a.", "http://evil.");
    await stage.patch("ConfigMap", name, { data: { "config.json": edited } });
    await eventually(async () => expect(await sources()).not.toContain("evil"));
    expect(JSON.stringify(stage.puts().slice(from))).not.toContain("evil");
    const labelled = (value: string) =>
      stage.patch("ConfigMap", name, { metadata: { labels: { "cloudflare-operator.io/tunnel-id": value } } });
    await labelled("another");
    await eventually(async () =>
      expect(await stage.events("main")).toContainEqual(expect.stringContaining("Warning ParseError ")),
    );
    await stage.ingress("b", "b.example.com", "b");
    await labelled(id);
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", undefined]));
  });
});
