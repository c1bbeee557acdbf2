/** What the chart renders; no cluster is asked. */
import { readFileSync } from "node:fs";
import { MODULES } from "@quartet/manager";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { CHART, helm, only, type Rendered, render } from "./support/chart.ts";
import { runWith } from "./support/manager.ts";

const NAMESPACED = 'watchNamespaces=["team-a","team-b"]';
/** A controller with webhooks and conversions. */
const TARS = 'controllers={"tars":{"enabled":true}}';
const CERT_MANAGER = 'webhook={"certMode":"cert-manager","certManager":{"issuerName":"ours"}}';
/** Everything optional. */
const ALL = [
  'metrics={"secure":true,"serviceMonitor":{"enabled":true},"prometheusRule":{"enabled":true,"runbookUrl":"https://x/"}}',
  'networkPolicy={"enabled":true}',
];

interface Role {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  rules: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}

/** Roles of users, which are added to view, edit and admin. */
const isForUsers = ({ metadata }: Role): boolean =>
  Object.keys(metadata.labels ?? {}).some((label) => label.includes("/aggregate-to-"));

/** Roles of the manager. */
const rolesOf = (objects: readonly object[]): Role[] =>
  (objects as Role[]).filter((role) => ["Role", "ClusterRole"].includes(role.kind) && !isForUsers(role));

/** Every single right of the roles, sorted. */
function rights(roles: readonly Role[]): string[] {
  const all = roles.flatMap(({ kind, metadata, rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ["*"] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) =>
            resourceNames.map((name) =>
              [kind, metadata.namespace ?? "", metadata.name, group, resource, verb, name].join(" "),
            ),
          ),
        ),
      ),
    ),
  );
  return [...new Set(all)].sort();
}

it("CORE-539 passes helm lint", async () => {
  const { code, stdout } = await helm(["lint", "--strict", CHART]);
  expect(stdout).toContain("0 chart(s) failed");
  expect(code).toBe(0);
});

describe("rights", () => {
  it.each([
    ["cluster", []],
    ["namespaced", [NAMESPACED]],
    ["cluster, metrics over TLS", ['metrics={"secure":true}']],
    ["namespaced, metrics over TLS", [NAMESPACED, 'metrics={"secure":true}']],
    ["cluster, no leader election", ["replicas=1", 'leaderElection={"enabled":false}']],
    ["cluster, with webhooks", [TARS]],
    ["namespaced, with webhooks", [NAMESPACED, TARS]],
    ["cluster, certificates of cert-manager", [TARS, CERT_MANAGER]],
    ["namespaced, beside a peer elsewhere", [NAMESPACED, 'controllers={"nacos":{"peerNamespace":"peers"}}']],
  ])("CORE-397 CORE-534 are those that --print-rbac prints: %s", async (_, values) => {
    const objects = await render(values);
    const printed = await runWith(objects, ["--print-rbac", "--leader-election-namespace=ops"]);
    const wanted = rights(rolesOf(parseAllDocuments(printed.stdout).map((document) => document.toJS())));
    expect(wanted.length).toBeGreaterThan(0);
    expect(rights(rolesOf(objects))).toEqual(wanted);
  });

  it.each([
    ["cluster", []],
    ["namespaced", [NAMESPACED]],
  ])("CORE-534 are the same as before, and bound to the ServiceAccount: %s", async (mode, values) => {
    const objects = await render(values);
    const text = rolesOf(objects)
      .map(({ kind, metadata: { name, namespace }, rules }) => stringify({ kind, name, namespace, rules }))
      .join("---\n");
    await expect(text).toMatchFileSnapshot(`golden/rbac-${mode}.yaml`);
    const id = (object: { kind: string; metadata: Rendered["metadata"] }): string =>
      `${object.kind.replace("Binding", "")} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const bindings = objects.filter(({ kind }) => kind.endsWith("RoleBinding"));
    expect(bindings.map(id).sort()).toEqual(rolesOf(objects).map(id).sort());
    for (const { roleRef, subjects, metadata } of bindings) {
      expect(roleRef.name).toBe(metadata.name);
      expect(subjects).toEqual([{ kind: "ServiceAccount", name: "quartet", namespace: "ops" }]);
    }
  });

  it("NACOS-213 CORE-534 include the Lease of another Nacos operator in a namespace that is not watched", async () => {
    const peer = (namespace: string): string => `controllers={"nacos":{"peerNamespace":"${namespace}"}}`;
    const roles = rolesOf(await render([NAMESPACED, peer("peers")]));
    expect(rights(roles.filter(({ metadata }) => metadata.namespace === "peers"))).toEqual([
      "Role peers quartet-extra coordination.k8s.io leases get 219866ca.nacos.io",
    ]);
    expect(rolesOf(await render([NAMESPACED, peer("team-a")]))).toHaveLength(3);
    expect(rolesOf(await render([peer("peers")]))).toHaveLength(2);
  });

  it("CORE-534 need no ClusterRole in namespaced mode, and a chart without controllers is refused", async () => {
    const objects = await render([NAMESPACED]);
    expect(rolesOf(objects).map(({ kind, metadata }) => `${kind} ${metadata.namespace}`)).toEqual([
      "Role team-a",
      "Role team-b",
      "Role ops",
    ]);
    await expect(render(['controllers={"nacos":{"enabled":false}}'])).rejects.toThrow(
      "no controller is enabled",
    );
  });
});

describe("values", () => {
  it.each([
    ["controllers.nacos.enabeld=true", "enabeld"],
    ["controllers.nacso.enabled=true", "nacso"],
    ["replica=3", "replica"],
    ["metrics.prot=8080", "prot"],
    ["dryRunControllers={nacso}", "dryRunControllers"],
    ["webhook.certMode=slef", "certMode"],
    ["leaderElection.leaseDuration=15", "leaseDuration"],
    ["watchNamespaces={Team_A}", "watchNamespaces"],
    ["fullnameOverride=My_Name", "fullnameOverride"],
  ])("CORE-533 refuses a typo: %s", async (value, named) => {
    const { code, stderr } = await helm(["template", "quartet", CHART, "--set", value]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(named);
  });

  it("CORE-533 allows no unknown field anywhere, and describes every default", () => {
    const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, "utf8"));
    const values = parse(readFileSync(`${CHART}/values.yaml`, "utf8"));
    const check = (part: Record<string, unknown>, node: { properties?: Record<string, never> }): void => {
      if (node.properties === undefined) return;
      expect(node).toMatchObject({ type: "object", additionalProperties: false });
      const known = Object.keys(node.properties).filter((name) => name !== "global");
      expect(Object.keys(part).sort()).toEqual(known.sort());
      for (const name of known) check(part[name] as never, node.properties[name]!);
    };
    check(values, schema);
  });

  it("CORE-533 has a value for every flag of a controller, with the flag's own default", async () => {
    const all = `controllers=${JSON.stringify(Object.fromEntries(MODULES.map(({ name }) => [name, { enabled: true }])))}`;
    const printed = await runWith(await render([all]), ["--print-config"]);
    const config = parse(printed.stdout);
    expect(printed.code, printed.stderr).toBe(0);
    const text = only(await render([all]), "ConfigMap").data["config.yaml"];
    for (const flag of MODULES.flatMap((module) => module.flags)) {
      const field = flag.name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      expect(text).toContain(`${field}:`);
      expect(String(config[field])).toBe(flag.default);
    }
  });

  it("gives the program a configuration that it takes, with what was asked for", async () => {
    const objects = await render([
      NAMESPACED,
      'controllers={"nacos":{"concurrency":7,"resync":"1m"}}',
      'dryRunControllers=["nacos"]',
      ...ALL,
    ]);
    const { code, stdout, stderr } = await runWith(objects, ["--print-config"]);
    expect(code, stderr).toBe(0);
    expect(parse(stdout)).toMatchObject({
      controllers: ["nacos"],
      namespaces: ["team-a", "team-b"],
      maxConcurrentReconciles: { nacos: 7 },
      dryRunControllers: ["nacos"],
      nacosResync: "1m",
      metrics: { secure: true, bindAddress: ":8080" },
      webhook: { port: -1 },
      leaderElection: { enabled: true, id: "quartet-manager" },
    });
  });
});

describe("objects", () => {
  it("CORE-532 are a Deployment of two that rolls without a gap, with its probes", async () => {
    const { spec } = only(await render(), "Deployment");
    expect(spec).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } },
    });
    const pod = spec.template.spec;
    expect(pod).toMatchObject({ enableServiceLinks: false, terminationGracePeriodSeconds: 45 });
    expect(pod.topologySpreadConstraints).toHaveLength(1);
    expect(pod.containers[0]).toMatchObject({
      startupProbe: { httpGet: { path: "/readyz" }, periodSeconds: 2, failureThreshold: 60 },
      livenessProbe: { httpGet: { path: "/healthz" }, periodSeconds: 20 },
      readinessProbe: { httpGet: { path: "/readyz" }, periodSeconds: 5 },
      resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
    });
  });

  it("CORE-532 roll the pods when the configuration changes, and have a budget for several replicas only", async () => {
    const checksum = async (values: string[]): Promise<string> =>
      only(await render(values), "Deployment").spec.template.metadata.annotations["checksum/config"];
    expect(await checksum([])).toBe(await checksum(['podLabels={"a":"b"}']));
    expect(await checksum(['log={"level":"debug"}'])).not.toBe(await checksum([]));
    expect(only(await render(), "PodDisruptionBudget").spec.minAvailable).toBe(1);
    const single = await render(["replicas=1"]);
    expect(single.filter(({ kind }) => kind === "PodDisruptionBudget")).toEqual([]);
  });

  it("CORE-532 have names that Services may have, whatever the release is called", async () => {
    const { stdout } = await helm(["template", "my.release", CHART]);
    const names = parseAllDocuments(stdout).map((document) => document.toJS()?.metadata?.name ?? "");
    expect(names).toContain("my-release-metrics");
    expect(names.filter((name) => name.startsWith("my.release"))).toEqual([]);
  });

  it("CORE-536 mount a token in the manager's pod only", async () => {
    const objects = await render();
    expect(only(objects, "ServiceAccount").automountServiceAccountToken).toBe(false);
    expect(only(objects, "Deployment").spec.template.spec.automountServiceAccountToken).toBe(true);
  });

  it("CORE-535 include the CRDs as they stand in crds/, kept unless told otherwise", async () => {
    const original = parse(readFileSync(new URL("../../crds/nacos.io_nacos.yaml", import.meta.url), "utf8"));
    const kept = only(await render(), "CustomResourceDefinition");
    expect(kept.spec).toEqual(original.spec);
    expect(kept.metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
    const dropped = only(await render(['crds={"keep":false}']), "CustomResourceDefinition");
    expect(dropped.metadata.annotations).toBeUndefined();
    const without = await render(['crds={"enabled":false}']);
    expect(without.some(({ kind }) => kind === "CustomResourceDefinition")).toBe(false);
  });

  it("CORE-532 never run two at a time without leader election", async () => {
    const alone = await render(["replicas=1", 'leaderElection={"enabled":false}']);
    expect(only(alone, "Deployment").spec.strategy).toEqual({ type: "Recreate" });
  });

  it("CORE-540 give viewers and editors of namespaces the custom resources, and in namespaced mode make nothing cluster-wide", async () => {
    const users = ((await render()) as unknown as Role[]).filter(isForUsers);
    const named = (end: string): Role => users.find(({ metadata }) => metadata.name.endsWith(end))!;
    expect(users).toHaveLength(2);
    const labels = (role: Role): string[] =>
      Object.keys(role.metadata.labels ?? {}).filter((label) => label.includes("aggregate"));
    expect(labels(named("-view"))).toEqual(["rbac.authorization.k8s.io/aggregate-to-view"]);
    expect(labels(named("-edit")).sort()).toEqual([
      "rbac.authorization.k8s.io/aggregate-to-admin",
      "rbac.authorization.k8s.io/aggregate-to-edit",
    ]);
    expect(rights([named("-view")])).toEqual(
      ["get", "list", "watch"]
        .flatMap((verb) => [`nacos ${verb}`, `nacos/scale ${verb}`])
        .concat("nacos/status get")
        .map((right) => `ClusterRole  quartet-view nacos.io ${right} *`)
        .sort(),
    );
    expect(rights([named("-edit")]).filter((right) => right.includes("nacos/status"))).toEqual([
      "ClusterRole  quartet-edit nacos.io nacos/status get *",
    ]);
    expect(((await render([NAMESPACED])) as unknown as Role[]).filter(isForUsers)).toEqual([]);
    expect(((await render(['userRoles={"create":false}'])) as unknown as Role[]).filter(isForUsers)).toEqual(
      [],
    );
  });

  it("CORE-537 have a NetworkPolicy that lets nothing in but their ports, and nothing out to link-local addresses", async () => {
    const { spec } = only(await render(), "NetworkPolicy");
    expect(spec.policyTypes).toEqual(["Ingress", "Egress"]);
    expect(spec.ingress.map(({ ports }: { ports: object[] }) => ports)).toEqual([
      [{ protocol: "TCP", port: "health" }],
      [{ protocol: "TCP", port: "metrics" }],
    ]);
    expect(JSON.stringify(spec.egress)).toContain('"except":["169.254.0.0/16"]');
    expect(
      (await render(['networkPolicy={"enabled":false}'])).some(({ kind }) => kind === "NetworkPolicy"),
    ).toBe(false);
  });

  it("CORE-537 let nothing out but to API server, DNS and Nacos nodes when they are told so", async () => {
    const apiServer = '{"cidr":"10.0.0.1/32","port":443}';
    const from = '[{"namespaceSelector":{}}]';
    const { spec } = only(
      await render([`networkPolicy={"restrictEgress":true,"metricsFrom":${from},"apiServer":${apiServer}}`]),
      "NetworkPolicy",
    );
    expect(spec.ingress).toContainEqual({
      ports: [{ protocol: "TCP", port: "metrics" }],
      from: [{ namespaceSelector: {} }],
    });
    expect(spec.egress).toContainEqual({
      ports: [{ protocol: "TCP", port: 443 }],
      to: [{ ipBlock: { cidr: "10.0.0.1/32" } }],
    });
    expect(JSON.stringify(spec.egress)).toContain('"middleware":"nacos"');
    expect(JSON.stringify(spec.egress)).not.toContain("0.0.0.0/0");
  });
});

describe("webhooks", () => {
  const tars = MODULES.find(({ name }) => name === "tars")!;

  it("CORE-344 are there with the controllers that have them, and no others", async () => {
    const none = await render();
    expect(none.filter(({ kind }) => kind.endsWith("WebhookConfiguration"))).toEqual([]);
    const objects = await render([TARS]);
    const hooks = ["Mutating", "Validating"].flatMap((type) => {
      const configuration = only(objects, `${type}WebhookConfiguration`);
      expect(configuration.metadata.name).toBe("quartet-webhook");
      return configuration.webhooks as Rendered[];
    });
    expect(hooks).toHaveLength(tars.webhooks!.length);
    for (const hook of hooks) {
      expect(hook).toMatchObject({
        admissionReviewVersions: ["v1"],
        failurePolicy: "Fail",
        clientConfig: { service: { namespace: "ops", name: "quartet-webhook", port: 443 } },
      });
      expect(hook.clientConfig.caBundle).toBeUndefined();
    }
    const service = objects.find(
      ({ kind, metadata }) => kind === "Service" && metadata.name === "quartet-webhook",
    );
    expect(service?.spec.ports).toEqual([{ name: "webhook", port: 443, targetPort: "webhook" }]);
    const { code, stdout, stderr } = await runWith(objects, ["--print-config"]);
    expect(code, stderr).toBe(0);
    expect(parse(stdout).webhook).toMatchObject({ port: 9443, certMode: "self" });
  });

  it("CORE-345 CORE-535 convert the CRDs of several versions, and cannot be left out then", async () => {
    const crds = (await render([TARS])).filter(({ kind }) => kind === "CustomResourceDefinition");
    const converted = crds.filter(({ spec }) => spec.conversion !== undefined);
    expect(converted.map(({ metadata }) => metadata.name).sort()).toEqual([
      "tframeworkconfigs.k8s.tars.io",
      "tservers.k8s.tars.io",
    ]);
    expect(converted[0]!.spec.conversion).toEqual({
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: { service: { namespace: "ops", name: "quartet-webhook", path: "/convert", port: 443 } },
      },
    });
    await expect(render([TARS, 'webhook={"enabled":false}'])).rejects.toThrow("webhook.enabled=false");
  });

  it("CORE-395 ask about the namespaces that are watched, and take one failure policy for all", async () => {
    const objects = await render([NAMESPACED, TARS, 'webhook={"failurePolicy":"Ignore"}']);
    for (const hook of only(objects, "ValidatingWebhookConfiguration").webhooks) {
      expect(hook.failurePolicy).toBe("Ignore");
      expect(hook.namespaceSelector.matchExpressions).toEqual([
        { key: "kubernetes.io/metadata.name", operator: "In", values: ["team-a", "team-b"] },
      ]);
    }
  });

  it("CORE-351 CORE-352 take certificates of cert-manager, and a CA for the API server's own", async () => {
    const clientCa =
      '{"certMode":"cert-manager","certManager":{"issuerName":"ours"},"clientCASecret":"api-ca"}';
    const objects = await render([TARS, `webhook=${clientCa}`]);
    const certificate = only(objects, "Certificate");
    expect(certificate.spec).toMatchObject({
      secretName: "quartet-webhook-tls",
      dnsNames: ["quartet-webhook.ops.svc", "quartet-webhook.ops.svc.cluster.local"],
      issuerRef: { name: "ours", kind: "Issuer" },
    });
    const injected = { "cert-manager.io/inject-ca-from": "ops/quartet-webhook" };
    expect(only(objects, "ValidatingWebhookConfiguration").metadata.annotations).toEqual(injected);
    const crd = objects.find(({ metadata }) => metadata.name === "tservers.k8s.tars.io")!;
    expect(crd.metadata.annotations).toEqual({ ...injected, "helm.sh/resource-policy": "keep" });
    const { volumes } = only(objects, "Deployment").spec.template.spec;
    const secrets = volumes.map((volume: Rendered) => volume.secret?.secretName);
    expect(secrets).toEqual([undefined, "quartet-webhook-tls", "api-ca"]);
    const { code, stdout, stderr } = await runWith(objects, ["--print-config"]);
    expect(code, stderr).toBe(0);
    expect(parse(stdout).webhook).toMatchObject({
      certMode: "cert-manager",
      certDir: "/etc/quartet/webhook",
      clientCA: "/etc/quartet/webhook-client-ca/ca.crt",
    });
  });
});
