/** What the authors of resources may have a controller do: read what they refer to, write beside it, hold up nobody. */
import { installCrds } from "@quartet/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createEchoModule } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { createReferrerModule } from "./support/referrer.ts";
import { echoCrd, openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

const maps = (): string => `/api/v1/namespaces/${stage.namespace}/configmaps`;
const map = (name: string, text: string): Promise<unknown> =>
  stage.client.ok("POST", maps(), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { text },
  });
const textOf = async (name: string): Promise<string | undefined> => (await echoes.out(name))?.data?.text;
/** Requests of the controller for the ConfigMaps. */
const asked = async (verb: string): Promise<string[]> =>
  (await stage.requests())
    .filter((one) => one.resource === "configmaps" && one.verb === verb)
    .map(({ path }) => path);

it("core A21 CORE-245 24 Echoes with impossible references hold up nobody, and are asked for by no request", async () => {
  const impossible = ["a=b", "..", "UPPER", "x/y", "a,b", "*", `${"x".repeat(254)}`, "metadata.name=phrases"];
  await map("phrases", "hello");
  for (let i = 0; i < 24; i += 1) await echoes.create(`evil-${i}`, { text: "x", refs: [impossible[i % 8]] });
  const manager = await stage.start({ modules: [createReferrerModule()] });
  await manager.ready;
  await echoes.create("good", { text: "x", refs: ["phrases"] });
  await echoes.ready("good");
  expect(await textOf("good")).toBe("hello");
  for (let i = 0; i < 24; i += 1) {
    await echoes.ready(`evil-${i}`);
    expect(await textOf(`evil-${i}`)).toBe("none");
  }
  await stage.client.ok("PATCH", `${maps()}/phrases`, { data: { text: "later" } }, MERGE);
  await eventually(async () => expect(await textOf("good")).toBe("later"));
  const reads = [...(await asked("get")), ...(await asked("list")), ...(await asked("watch"))];
  expect(reads.filter((path) => path.includes("fieldSelector"))).toEqual([]);
  expect(new Set(await asked("get"))).toEqual(new Set([`${maps()}/phrases`]));
});

it("core A22 CORE-245 60 Echoes with two references each cost one watch of the kind, a read for each object and for each change", async () => {
  for (let i = 0; i < 60; i += 1) {
    await map(`map-${i}`, `${i}`);
    await echoes.create(`echo-${i}`, { text: "x", refs: [`map-${i}`, `map-${(i + 1) % 60}`] });
  }
  const manager = await stage.start({ modules: [createReferrerModule()] });
  await manager.ready;
  for (let i = 0; i < 60; i += 1) await echoes.ready(`echo-${i}`);
  expect(await textOf("echo-7")).toBe("7,8");
  expect((await asked("get")).length).toBe(60);
  expect(await manager.metric("quartet_reflector_lists_total", 'resource="configmaps"')).toBe(1);
  await stage.client.ok("PATCH", `${maps()}/map-8`, { data: { text: "new" } }, MERGE);
  await eventually(async () =>
    expect([await textOf("echo-7"), await textOf("echo-8")]).toEqual(["7,new", "new,9"]),
  );
  expect((await asked("get")).length).toBe(61);
});

it("core A23 CORE-244 an Echo that has a controller write elsewhere is refused before anything is sent, and told why", async () => {
  await echoes.create("evil", { text: "x", into: "kube-system" });
  const manager = await stage.start({ modules: [createReferrerModule()] });
  await manager.ready;
  await eventually(async () => {
    const { status } = (await echoes.get("evil"))!;
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.message).toContain("configmaps kube-system/evil-out not sent");
  });
  await echoes.create("good", { text: "x" });
  await echoes.ready("good");
  const sent = (await stage.requests()).filter(({ namespace }) => namespace === "kube-system");
  expect(sent).toEqual([]);
});

it("core A24 CORE-184 CORE-282 a kind that cannot be listed stops its controller alone, until it can be", async () => {
  const group = `${stage.namespace}.example.com`;
  await installCrds(stage.client, [echoCrd(group)]);
  const rule = stage.proxy.add({ path: `/apis/${group}/v1/`, fault: { kind: "serverError" } });
  const late = createEchoModule({ group, name: "late" });
  const manager = await stage.start({
    modules: [createReferrerModule(), late],
    args: ["--cache-sync-timeout=3s", "--leader-elect=true"],
  });
  // The election waits for no list.
  await manager.leading;
  await echoes.create("good", { text: "x" });
  await echoes.ready("good");
  const probe = async (path: string): Promise<number> =>
    (await fetch(`${manager.urls.health}${path}`)).status;
  await eventually(async () => expect(await probe("/readyz/controller-late")).toBe(500), 30_000);
  expect([await probe("/readyz"), await probe("/readyz/controller-referrer")]).toEqual([200, 200]);
  expect(await (await fetch(`${manager.urls.health}/readyz?verbose`)).text()).toContain(
    "[-]controller-late failed",
  );
  expect(await manager.metric("quartet_controller_state", 'controller="late"', 'state="Failed"')).toBe(1);
  const others = echoesOf(stage, group);
  await others.create("a", { text: "later" });
  rule.remove();
  await others.ready("a");
  expect(await probe("/readyz/controller-late")).toBe(200);
  await others.remove("a");
  await stage.client.ok("DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/echoes.${group}`);
});

const MERGE = { contentType: "application/merge-patch+json" };
