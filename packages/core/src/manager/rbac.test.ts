import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { RightsRule } from "../controller/types.ts";
import { defineKind } from "../object.ts";
import { type RbacOptions, rbacFor, rolesFor } from "./rbac.ts";
import type { RightsModule } from "./rights.ts";
import { compactRights, expandRules, roleRules } from "./rules.ts";

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
  crds: [],
  rights: [
    { groups: ["test.quartet.io"], resources: ["echoes", "zones"], verbs: ["get", "list", "watch"] },
    { groups: ["test.quartet.io"], resources: ["echoes/status"], verbs: ["patch"] },
    { groups: [""], resources: ["configmaps"], verbs: ["watch", "get", "list", "patch", "create"] },
    { groups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
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
      webhooks: () => [],
      conversions: [{ group: "test.quartet.io", kind: "Echo", hub: "v1", versions: {} }],
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
