import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { PreflightError } from "../manager/errors.ts";
import { parseLogLevels } from "../observe/levels.ts";
import { createLogging } from "../observe/logger.ts";
import type { NeededRight } from "./needed.ts";
import { checkRights, type PreflightOutcome } from "./preflight.ts";

const rights: NeededRight[] = [
  {
    right: {
      group: "coordination.k8s.io",
      resource: "leases",
      verb: "get",
      resourceName: "quartet-manager",
    },
    place: "own",
  },
  { right: { group: "", resource: "configmaps", verb: "list" }, place: "work" },
  { right: { group: "", resource: "configmaps", verb: "watch" }, place: "work" },
  { right: { group: "", resource: "pods/eviction", verb: "create" }, place: "work" },
  { right: { group: "", resource: "nodes", verb: "list" }, place: "cluster" },
];

type Attributes = Record<string, string>;

interface Rule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
}

/** By default the rules of a namespace tell nothing. */
async function check(
  allows: (asked: Attributes) => boolean,
  namespaces: string[] = [],
  {
    rulesOf = () => [],
    needed = rights,
  }: { rulesOf?: (namespace: string) => Rule[]; needed?: NeededRight[] } = {},
) {
  const reviewed: string[] = [];
  const asked: Attributes[] = [];
  const lines: string[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const { log } = createLogging({
    levels: parseLogLevels("info"),
    destination: { write: (line) => lines.push(line) },
  });
  const client = {
    async raw(_method: string, path: string, body?: unknown): Promise<unknown> {
      if (path.endsWith("selfsubjectrulesreviews")) {
        const { namespace } = (body as { spec: { namespace: string } }).spec;
        reviewed.push(namespace);
        return { status: { incomplete: true, resourceRules: rulesOf(namespace) } };
      }
      const { resourceAttributes } = (body as { spec: { resourceAttributes: Attributes } }).spec;
      asked.push(resourceAttributes);
      mostAtOnce = Math.max(mostAtOnce, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return { status: { allowed: allows(resourceAttributes) } };
    },
  };
  let outcome: PreflightOutcome | undefined;
  const options = { client, rights: needed, releaseNamespace: "ops", namespaces, log };
  const error = await checkRights(options).then(
    (done) => {
      outcome = done;
    },
    (caught: unknown) => caught,
  );
  return { asked, reviewed, error, outcome, lines, mostAtOnce };
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

  it("CORE-398 one review of rules a namespace answers what they grant; the rest is asked singly", async () => {
    const grant = (resources: string[], verbs: string[], more: Partial<Rule> = {}): Rule => ({
      apiGroups: [""],
      resources,
      verbs,
      ...more,
    });
    const { asked, reviewed, error } = await check(() => true, ["a", "b"], {
      rulesOf: (namespace) => {
        if (namespace === "a") return [grant(["configmaps"], ["*"]), grant(["*/eviction"], ["create"])];
        if (namespace === "b") return [grant(["configmaps"], ["list"]), grant(["pods"], ["create"])];
        if (namespace === "ops") {
          const coordination = { apiGroups: ["coordination.k8s.io"] };
          return [
            grant(["leases"], ["get"], { ...coordination, resourceNames: ["other"] }),
            grant(["leases"], ["update"], coordination),
          ];
        }
        return [grant(["*"], ["list"], { apiGroups: ["*"] })];
      },
    });
    expect(error).toBeUndefined();
    expect(reviewed).toHaveLength(4);
    expect(asked.map(({ verb, resource, namespace }) => `${verb} ${resource} ${namespace}`).sort()).toEqual([
      "create pods b",
      "get leases ops",
      "watch configmaps b",
    ]);
  });

  it("CORE-398 for all namespaces it asks what holds in one that no role can be bound in", async () => {
    const { asked, reviewed } = await check(() => true, [], {
      rulesOf: (namespace) =>
        namespace === "ops"
          ? [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]
          : [{ apiGroups: [""], resources: ["nodes", "configmaps"], verbs: ["list"] }],
    });
    expect(reviewed.filter((namespace) => namespace !== "ops")).toEqual([expect.stringMatching(/^quartet-/)]);
    expect(asked.map(({ verb, resource }) => `${verb} ${resource}`).sort()).toEqual([
      "create pods",
      "watch configmaps",
    ]);
  });

  it("CORE-398 tells of a right that can be done without, and starts", async () => {
    const optional = { module: "sets", consequence: "templates are checked when pods are made" };
    const needed: NeededRight[] = [
      { right: { group: "", resource: "podtemplates", verb: "create" }, place: "work", optional },
    ];
    const { error, outcome, lines } = await check(() => false, ["a"], { needed });
    expect(error).toBeUndefined();
    expect(outcome?.without).toEqual([{ ...optional, rules: expect.stringContaining("podtemplates") }]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "warn", msg: "Optional right missing", ...optional },
    ]);
  });
});
