import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseLogLevels } from "../observe/levels.ts";
import { createLogging } from "../observe/logger.ts";
import { PreflightError } from "./errors.ts";
import { checkRights } from "./preflight.ts";
import type { NeededRights } from "./rights.ts";

const rights: NeededRights = {
  own: [
    {
      groups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["get"],
      resourceNames: ["quartet-manager"],
    },
  ],
  work: [
    { groups: [""], resources: ["configmaps"], verbs: ["list", "watch"] },
    { groups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  ],
  cluster: [{ groups: [""], resources: ["nodes"], verbs: ["list"] }],
};

type Attributes = Record<string, string>;

async function check(
  allows: (asked: Attributes) => boolean,
  namespaces: string[] = [],
): Promise<{ asked: Attributes[]; error: unknown; lines: string[]; mostAtOnce: number }> {
  const asked: Attributes[] = [];
  const lines: string[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const { log } = createLogging({
    levels: parseLogLevels("info"),
    destination: { write: (line) => lines.push(line) },
  });
  const client = {
    async raw(_method: string, _path: string, body?: unknown): Promise<unknown> {
      const { resourceAttributes } = (body as { spec: { resourceAttributes: Attributes } }).spec;
      asked.push(resourceAttributes);
      mostAtOnce = Math.max(mostAtOnce, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return { status: { allowed: allows(resourceAttributes) } };
    },
  };
  const error = await checkRights({ client, rights, releaseNamespace: "ops", namespaces, log }).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return { asked, error, lines, mostAtOnce };
}

describe("preflight", () => {
  it("CORE-398 asks once for each verb, resource and namespace", async () => {
    const { asked, error } = await check(() => true, ["a", "b"]);
    expect(error).toBeUndefined();
    expect(asked).toHaveLength(8);
    expect(asked).toEqual(
      expect.arrayContaining([
        { verb: "list", group: "", resource: "nodes" },
        { verb: "watch", group: "", resource: "configmaps", namespace: "b" },
        { verb: "create", group: "", resource: "pods", subresource: "eviction", namespace: "a" },
        {
          verb: "get",
          group: "coordination.k8s.io",
          resource: "leases",
          name: "quartet-manager",
          namespace: "ops",
        },
      ]),
    );
  });

  it("CORE-398 names the missing rules as YAML, by namespace", async () => {
    const { error } = await check(
      ({ verb, namespace }) => !(verb === "watch" && namespace === "b"),
      ["a", "b"],
    );
    expect(error).toBeInstanceOf(PreflightError);
    const { rules, message } = error as PreflightError;
    expect(message).toContain(rules);
    expect(rules).toContain("# in a Role of namespace b\n");
    expect(parse(rules)).toEqual([{ apiGroups: [""], resources: ["configmaps"], verbs: ["watch"] }]);
  });

  it("CORE-396 asks for rights on cluster-scoped kinds in namespaced mode too, and names the missing ClusterRole", async () => {
    const { error } = await check(({ resource }) => resource !== "nodes", ["a"]);
    expect((error as PreflightError).rules).toContain("# in a ClusterRole\n");
    expect(parse((error as PreflightError).rules)).toEqual([
      { apiGroups: [""], resources: ["nodes"], verbs: ["list"] },
    ]);
  });

  it("CORE-398 goes on with a warning when reviews cannot be made", async () => {
    const { error, lines } = await check(() => {
      throw new Error("not served");
    });
    expect(error).toBeUndefined();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "warn", msg: "Rights could not be checked", unknown: 5, asked: 5 },
    ]);
  });

  it("CORE-398 has at most 50 reviews in flight", async () => {
    const many = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const { asked, mostAtOnce } = await check(() => true, many);
    expect(asked).toHaveLength(122);
    expect(mostAtOnce).toBe(50);
  });
});
