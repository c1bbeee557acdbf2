/** Attacks of a tenant who may write resources, ConfigMaps and Secrets of one namespace, and runs servers that lie. */
import { createServer, type Server } from "node:net";
import { testNamespace } from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import { CHILD_LABELS } from "../src/desired/names.ts";
import { conditionOf, createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { createSecret } from "./support/postgres.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

/** What nobody may read. */
const MARK = "marker7d1f";
const MEBIBYTE = 1_048_576;

let stage: Stage;
let objects: Objects;
let servers: Server[];
beforeEach(async () => {
  servers = [];
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(async () => {
  for (const server of servers) server.close();
  await stage.close();
});

const ready = (name: string, status: string, reason?: string): Promise<Nacos> =>
  eventually(async () => {
    const resource = await objects.get("nacos", name);
    const { operatorConditions = [] } = resource.status ?? {};
    expect(operatorConditions).toContainEqual(
      expect.objectContaining({ status, ...(reason !== undefined && { reason }) }),
    );
    return resource;
  }, 60_000);

describe("a tenant", () => {
  it("NACOS-1012: lines of backslashes, open placeholders and half a million keys hold up nobody", async () => {
    await stage.startManager(NO_CHECK);
    const worst = {
      backslashes: `${"\\".repeat(900_000)}x`,
      placeholders: `server.port=${"${".repeat(450_000)}`,
      keys: "a\n".repeat(450_000),
      stars: `${"a".repeat(900_000)}=1`,
    };
    for (const [name, text] of Object.entries(worst)) {
      await objects.configMap(name, { "user.properties": text });
      const configPolicy = {
        protectedKeys: Array.from({ length: 20 }, (_, at) => `${"*a".repeat(100)}${at}b`),
      };
      await objects.nacos(name, { userConfigRef: { name }, ...(name === "stars" && { configPolicy }) });
    }
    await createBase(objects, "honest", { type: "standalone", replicas: 1 });
    await eventually(async () => {
      expect((await objects.get("nacos", "honest")).status?.phase).toBe("Running");
    }, 60_000);
    await ready("keys", "False", "ConfigTooLarge");
    await ready("stars", "False", "ProtectedKeysTooCostly");
    await ready("backslashes", "True", "Merged");
    await ready("placeholders", "True", "Merged");
  });

  it("CORE-194: a namespace full of large labelled ConfigMaps takes no memory from the others", async () => {
    const neighbour = await testNamespace(stage.client);
    stage.onClose(() => neighbour.empty());
    const others = objectsOf({ client: stage.client, namespace: neighbour.name });
    for (let n = 0; n < 24; n++) {
      await objects.create("configmaps", `large-${n}`, {
        ...{ apiVersion: "v1", kind: "ConfigMap" },
        metadata: { labels: CHILD_LABELS },
        data: { "user.properties": `# ${String(n % 10).repeat(MEBIBYTE - 100)}\n` },
      });
      await objects.nacos(`reader-${n}`, { userConfigRef: { name: `large-${n}` } });
    }
    const manager = await stage.startManager({
      ...NO_CHECK,
      namespaces: [stage.namespace, neighbour.name],
      namespaceBytes: 8 * MEBIBYTE,
    });
    await createBase(others, "honest", { type: "standalone", replicas: 1 });
    await eventually(async () => {
      expect((await others.get("nacos", "honest")).status?.phase).toBe("Running");
    }, 60_000);
    // Those of the full namespace are told why.
    await eventually(async () => {
      const refused = (await objects.list("nacos")).filter(({ status }) =>
        JSON.stringify(status ?? {}).includes("the namespace would take more than 8388608 bytes"),
      );
      expect(refused.length).toBeGreaterThanOrEqual(16);
    }, 60_000);
    expect(manager.cached("ConfigMap")).toBeLessThanOrEqual(9);
  });

  it("NACOS-1013 NACOS-813: the words of a Secret stand in no status, event and log", async () => {
    const manager = await stage.startManager(NO_CHECK);
    const text = `${MARK}\nserver.port=4711\n${MARK}ü=1\nshared.${MARK}=2\n`;
    await createSecret(objects, "word", { "user.properties": text, "internal.properties": text });
    const ref = { name: "word", kind: "Secret" };
    const policy = (onViolation: string) => ({ protectedKeys: ["*"], onViolation });
    await objects.nacos("warned", {
      userConfigRef: ref,
      internalConfigRef: ref,
      configPolicy: policy("Warn"),
    });
    await objects.nacos("refused", { userConfigRef: ref, configPolicy: policy("Reject") });
    await ready("warned", "True", "Merged");
    const refused = await ready("refused", "False", "ProtectedKeyOverridden");
    expect(conditionOf(refused, "ConfigReady").message).toContain("4 of the Secret, in lines 1, 2, 3, 4");
    await eventually(async () => {
      const reasons = (await objects.list("events")).map(({ reason }) => reason);
      for (const reason of ["ProtectedKeyOverridden", "NonAsciiValue", "NonDefaultPort"]) {
        expect(reasons).toContain(reason);
      }
    });
    const told = JSON.stringify([await objects.list("nacos"), await objects.list("events")]) + manager.log();
    expect(told).not.toContain(MARK);
    expect(told).not.toContain("4711");
    expect(await manager.metrics()).not.toContain(MARK);
  });

  it("NACOS-1014 NACOS-1015: a resource sends the manager to no loopback address, and learns of no port", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await createSecret(objects, "login", { username: "u", password: MARK });
    const postgres = (host: string) => ({
      ...{ host, port: String(port), database: "nacos" },
      credentialsSecretRef: { name: "login" },
    });
    const manager = await stage.startManager({ flags: { ...NO_CHECK.flags, "nacos-postgres-hosts": "" } });
    await objects.nacos("address", { postgres: postgres("127.0.0.1") });
    await objects.nacos("name", { postgres: postgres("localhost") });
    for (const name of ["address", "name"]) await ready(name, "False", "HostNotAllowed");
    expect(connections).toBe(0);
    await manager.stop();
    // Where the way is open: a port that is closed and one that ends each connection are told alike.
    await stage.startManager(NO_CHECK);
    await objects.nacos("closed", { postgres: { ...postgres("127.0.0.1"), port: "1" } });
    const told = async (name: string): Promise<string> =>
      conditionOf(await ready(name, "False", "DatabaseUnreachable"), "DatabaseReady").message!;
    const [open, closed] = [await told("address"), await told("closed")];
    expect(connections).toBeGreaterThan(0);
    expect(open.replace(`:${port};`, ":1;")).toBe(closed);
  });

  it("NACOS-710 NACOS-712: a line break in database or user goes to no server", async () => {
    await stage.startManager(NO_CHECK);
    await createSecret(objects, "login", { username: "u\r\nEVIL", password: "p" });
    const postgres = { host: "127.0.0.1", database: "nacos", credentialsSecretRef: { name: "login" } };
    await objects.nacos("user", { postgres });
    const resource = await ready("user", "False", "KeyNotFound");
    expect(conditionOf(resource, "DatabaseReady").message).not.toContain("EVIL");
    await expect(
      objects.nacos("database", { postgres: { ...postgres, database: "a\nEVIL" } }),
    ).rejects.toThrow("spec.postgres.database");
  });

  it("NACOS-1012: texts and lists beyond their limits are refused with the field's name", async () => {
    const long = "a".repeat(MEBIBYTE / 4);
    const specs: [string, object][] = [
      ["spec.postgres.host", { postgres: { host: long } }],
      ["spec.postgres.credentialsSecretRef.name", { postgres: { credentialsSecretRef: { name: long } } }],
      ["spec.userConfigRef.name", { userConfigRef: { name: long } }],
      ["spec.configPolicy.protectedKeys", { configPolicy: { protectedKeys: Array(200).fill("a") } }],
      ["spec.configPolicy.protectedKeys[0]", { configPolicy: { protectedKeys: [long] } }],
      ["spec.image", { image: long }],
    ];
    for (const [field, spec] of specs) {
      await expect(objects.nacos("long", spec as Record<string, unknown>), field).rejects.toThrow(field);
    }
  });
});
