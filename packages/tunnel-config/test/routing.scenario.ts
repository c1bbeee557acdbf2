/** The acceptance scenarios of section 12 about which rule serves what. */
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@quartet/testing/stage";
import { routesOf } from "@quartet/tunnel-ingress";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStage, type TunnelStage } from "./support/stage.ts";

let stage: TunnelStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage?.close());

async function startWithTunnel(): Promise<string> {
  await stage.startManager();
  await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
  return stage.activeTunnel("main");
}

describe("routing", () => {
  it("A4 TUN-411 TUN-602 TUN-606 a wildcard of a binding does not hide the host of an Ingress", async () => {
    const id = await startWithTunnel();
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

  it("A5 TUN-621 TUN-622 TUN-623 of two claims the older is served, then the other", async () => {
    const id = await startWithTunnel();
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

  it("A10 TUN-415 TUN-619 TUN-707 one bad rule is left out and named, its neighbours are served", async () => {
    const id = await startWithTunnel();
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

  it("A10 TUN-630 what the API refuses of one source keeps no other from being changed", async () => {
    const id = await startWithTunnel();
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
});
