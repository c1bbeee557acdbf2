import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { CONFIG_MAP, LEASE, NODE, POD } from "../kinds/index.ts";
import { allow, reads, reconciles } from "../module/rights.ts";
import { defineKind } from "../object.ts";
import { conversion, validating } from "../webhook/types.ts";
import { neededRights, type RightsModule } from "./needed.ts";
import { type RbacOptions, rbacFor, rolesFor } from "./roles.ts";
import { compactRights, expandRules, type RightsRule, roleRules } from "./rules.ts";

const echo = defineKind({
  group: "test.quartet.io",
  version: "v1",
  kind: "Echo",
  plural: "echoes",
  namespaced: true,
});
const zone = defineKind({
  group: "test.quartet.io",
  version: "v1",
  kind: "Zone",
  plural: "zones",
  namespaced: false,
});

const module: RightsModule = {
  name: "echo",
  kinds: [echo, zone],
  rights: [
    reads(echo),
    reads(zone),
    allow(echo, ["patch"], { subresource: "status" }),
    allow(CONFIG_MAP, ["watch", "get", "list", "patch", "create"]),
    allow(NODE, ["list", "watch"]),
  ],
};
const options: RbacOptions = {
  release: "quartet",
  releaseNamespace: "ops",
  namespaces: [],
  leaseName: "quartet-manager",
  webhooks: true,
  ownCertificates: true,
  metricsSecure: false,
  flags: {},
};

describe("roles from code", () => {
  it("CORE-397 prints the rights of the modules in a ClusterRole, those on own objects in a Role", () => {
    expect(rbacFor([module], options)).toMatchInlineSnapshot(`
      "apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: quartet-manager
      rules:
        - apiGroups:
            - ""
          resources:
            - configmaps
          verbs:
            - get
            - list
            - watch
            - create
            - patch
        - apiGroups:
            - ""
          resources:
            - nodes
          verbs:
            - list
            - watch
        - apiGroups:
            - events.k8s.io
          resources:
            - events
          verbs:
            - create
            - patch
        - apiGroups:
            - test.quartet.io
          resources:
            - echoes
            - zones
          verbs:
            - get
            - list
            - watch
        - apiGroups:
            - test.quartet.io
          resources:
            - echoes/status
          verbs:
            - patch
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata:
        name: quartet-core
        namespace: ops
      rules:
        - apiGroups:
            - coordination.k8s.io
          resources:
            - leases
          verbs:
            - create
        - apiGroups:
            - coordination.k8s.io
          resources:
            - leases
          resourceNames:
            - quartet-manager
          verbs:
            - get
            - update
      "
    `);
  });

  it("CORE-396 CORE-397 prints a Role per namespace and a small ClusterRole in namespaced mode", () => {
    const roles = rolesFor([module], { ...options, namespaces: ["a", "b"] });
    expect(roles.map(({ kind, metadata }) => [kind, metadata.name, metadata.namespace])).toEqual([
      ["ClusterRole", "quartet-cluster-read", undefined],
      ["Role", "quartet-manager", "a"],
      ["Role", "quartet-manager", "b"],
      ["Role", "quartet-core", "ops"],
    ]);
    expect(JSON.stringify(roles[0]!.rules)).toContain('"nodes"');
    expect(JSON.stringify(roles[0]!.rules)).toContain('"zones"');
    expect(JSON.stringify(roles[1]!.rules)).not.toMatch(/nodes|zones/);
  });

  it("CORE-392 grants nothing for modules that are not enabled", () => {
    const text = rbacFor([], { ...options, namespaces: ["a"] });
    expect(parseAllDocuments(text).map((document) => document.toJS().rules)).toEqual([
      [{ apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] }],
      [
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
        {
          apiGroups: ["coordination.k8s.io"],
          resources: ["leases"],
          resourceNames: ["quartet-manager"],
          verbs: ["get", "update"],
        },
      ],
    ]);
  });

  it("CORE-399 adds rights on the webhook's Secret, its configurations and converted CRDs, and on reviews", () => {
    const hooked: RightsModule = {
      ...module,
      webhooks: [validating({ kind: echo, operations: ["CREATE"], handler: () => () => [] })],
      conversions: [conversion(echo, [])],
    };
    const [cluster, own] = rolesFor([hooked], { ...options, metricsSecure: true });
    expect(own!.rules).toEqual(
      expect.arrayContaining([
        { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
        {
          apiGroups: [""],
          resources: ["secrets"],
          resourceNames: ["quartet-webhook-cert"],
          verbs: ["get", "list", "watch", "update"],
        },
      ]),
    );
    expect(cluster!.rules).toEqual(
      expect.arrayContaining([
        {
          apiGroups: ["apiextensions.k8s.io"],
          resources: ["customresourcedefinitions"],
          resourceNames: ["echoes.test.quartet.io"],
          verbs: ["get", "list", "watch", "patch"],
        },
        { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
        { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
      ]),
    );
    const mounted = rolesFor([hooked], { ...options, ownCertificates: false });
    expect(JSON.stringify(mounted)).not.toMatch(/secrets|webhookconfigurations/);
  });
});

describe("rights of modules", () => {
  const rights = (module: Partial<RightsModule>, more: Partial<RbacOptions> = {}) =>
    neededRights([{ name: "m", kinds: [], rights: [], ...module }], { ...options, ...more })
      .filter(({ right }) => right.group !== "events.k8s.io" && right.resource !== "leases")
      .map(({ right, place }) => [right.verb, right.resource, place]);

  it("CORE-397 what a controller's resource needs: to be read, its status written, its finalizers for owner references", () => {
    expect(rights({ rights: reconciles(echo) })).toEqual([
      ["get", "echoes", "work"],
      ["list", "echoes", "work"],
      ["watch", "echoes", "work"],
      ["get", "echoes/status", "work"],
      ["update", "echoes/status", "work"],
      ["patch", "echoes/status", "work"],
      ["update", "echoes/finalizers", "work"],
    ]);
    expect(rights({ rights: [allow(zone, ["get"])] })).toEqual([["get", "zones", "cluster"]]);
  });

  it("CORE-397 a right that depends on a flag is needed with its values alone", () => {
    const when = { flag: "mode", is: ["owner"] };
    const module = { rights: [allow(POD, ["create"], { when })] };
    expect(rights(module, { flags: { mode: "owner" } })).toEqual([["create", "pods", "work"]]);
    expect(rights(module, { flags: { mode: "off" } })).toEqual([]);
    expect(() => rights(module)).toThrow("--mode, which is not declared");
  });

  it("CORE-397 names a right in the namespace that a flag holds, unless it is granted where the manager works", () => {
    const place = { flag: "peer" } as const;
    const peer: RightsModule = {
      ...module,
      rights: [allow(LEASE, ["get"], { names: ["peer"], place })],
    };
    const at = (flags: Record<string, string>, namespaces: string[], rights = peer.rights): unknown[] =>
      rolesFor([{ ...peer, rights }], { ...options, flags, namespaces })
        .filter(({ metadata }) => metadata.name === "quartet-extra")
        .map(({ metadata, rules }) => [metadata.namespace, rules]);
    const rule = {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      resourceNames: ["peer"],
      verbs: ["get"],
    };
    expect(at({ peer: "old-system" }, ["a"])).toEqual([["old-system", [rule]]]);
    expect(at({ peer: "old-system" }, [])).toEqual([["old-system", [rule]]]);
    expect(at({ peer: "" }, ["a"])).toEqual([]);
    const readEverywhere = [...peer.rights, reads(LEASE)];
    expect(at({ peer: "old-system" }, [], readEverywhere)).toEqual([]);
    expect(at({ peer: "a" }, ["a"], readEverywhere)).toEqual([]);
    expect(at({ peer: "old-system" }, ["a"], readEverywhere)).toEqual([["old-system", [rule]]]);
  });

  it("CORE-398 a right that somebody needs for certain is not optional", () => {
    const optional = { name: "a", kinds: [], rights: [allow(POD, ["get"], { optional: "less is told" })] };
    const certain = { name: "b", kinds: [], rights: [allow(POD, ["get"])] };
    const optionalIn = (...modules: RightsModule[]): unknown =>
      neededRights(modules, options).find(({ right }) => right.resource === "pods")?.optional;
    expect(optionalIn(optional)).toEqual({ module: "a", consequence: "less is told" });
    expect(optionalIn(optional, certain)).toBeUndefined();
    expect(optionalIn(certain, optional)).toBeUndefined();
  });
});

describe("arithmetic of rules", () => {
  const rule: fc.Arbitrary<RightsRule> = fc.record(
    {
      groups: fc.uniqueArray(fc.constantFrom("", "apps", "x.io"), { minLength: 1 }),
      resources: fc.uniqueArray(fc.constantFrom("a", "b", "c/status"), { minLength: 1 }),
      verbs: fc.uniqueArray(fc.constantFrom("get", "list", "watch", "patch"), { minLength: 1 }),
      resourceNames: fc.uniqueArray(fc.constantFrom("n1", "n2"), { minLength: 1 }),
    },
    { requiredKeys: ["groups", "resources", "verbs"] },
  );

  it("CORE-397 puts rules together without adding or losing a right", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), (rules) => {
        const rights = expandRules(rules);
        const again = expandRules(compactRights(rights));
        const sorted = (list: readonly object[]): string[] => list.map((one) => JSON.stringify(one)).sort();
        expect(sorted(again)).toEqual(sorted(rights));
      }),
    );
  });

  it("prints the same text whatever the order of the rules", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), (rules) => {
        const print = (list: readonly RightsRule[]): string =>
          JSON.stringify(roleRules(compactRights(expandRules(list))));
        expect(print([...rules].reverse())).toBe(print(rules));
      }),
    );
  });

  it("is YAML that Kubernetes takes", () => {
    const [role] = parseAllDocuments(rbacFor([module], options)).map((document) => document.toJS());
    expect(role.apiVersion).toBe("rbac.authorization.k8s.io/v1");
    expect(
      parse(rbacFor([], { ...options, leaseName: "x", namespaces: ["a"] }).split("---\n")[0]!).kind,
    ).toBe("Role");
  });
});
