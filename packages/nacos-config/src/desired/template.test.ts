import { readFileSync } from "node:fs";
import type { JsonMap, StatefulSet } from "@quartet/core/kinds";
import { difference } from "@quartet/pod-template";
import { describe, expect, it } from "vitest";
import type { Nacos } from "../api.gen.ts";
import {
  clusterOf,
  envOf,
  IMAGE,
  MERGED,
  NONE,
  nacos,
  nacosContainerOf,
  peerCases,
  templateOf,
} from "../fixtures.testkit.ts";
import { canonicalJson } from "./digest.ts";
import { settingsOf } from "./settings.ts";
import { podTemplate } from "./template.ts";
import { type MountedConfig, mountedConfig } from "./volumes.ts";

const container = (...args: Parameters<typeof templateOf>) => nacosContainerOf(templateOf(...args));
const env = (...args: Parameters<typeof templateOf>): string[] => envOf(container(...args));
const ports = (...args: Parameters<typeof templateOf>): string[] =>
  (container(...args).ports ?? []).map(({ name, containerPort }) => `${name}:${containerPort}`);

describe("pod template", () => {
  it("NACOS-402 has the ports of the version and probes on the client port", () => {
    const { name, image, readinessProbe, livenessProbe } = container(clusterOf());
    expect({ name, image }).toEqual({ name: "demo", image: IMAGE });
    expect(ports(clusterOf())).toEqual(["client:8848", "rpc:7848", "new-rpc:9848", "cluster-rpc:9849"]);
    expect(ports(clusterOf({ image: "nacos/nacos-server:v3.0.1" }))).toContain("console:8080");
    const wrapped = { containers: [{ name: "demo", image: "nacos/nacos-server:v3.0.1" }] };
    expect(ports(clusterOf({ k8sWrapper: { PodSpec: wrapped } }))).toContain("console:8080");
    expect(readinessProbe).toEqual({
      tcpSocket: { port: 8848 },
      initialDelaySeconds: 10,
      periodSeconds: 10,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 3,
    });
    expect(livenessProbe).toEqual({
      tcpSocket: { port: 8848 },
      initialDelaySeconds: 30,
      periodSeconds: 10,
      failureThreshold: 30,
    });
    const own = { livenessProbe: { exec: { command: ["true"] } }, resources: { limits: { cpu: 2 } } };
    expect(container(nacos(own))).toMatchObject(own);
  });

  it("NACOS-403 starts a cluster by the image's script and leaves standalone to the image", () => {
    expect(container(clusterOf()).command).toEqual(["/bin/bash", "-c", "bin/docker-startup.sh"]);
    expect(container(nacos())).not.toHaveProperty("command");
    expect(container(clusterOf())).not.toHaveProperty("lifecycle");
  });

  it("NACOS-105 NACOS-422 gives standalone its mode and a cluster its members, three by default", () => {
    expect(env(nacos())).toEqual([
      "PREFER_HOST_MODE=hostname",
      "EMBEDDED_STORAGE=embedded",
      "MODE=standalone",
    ]);
    const members = [0, 1, 2].map((at) => `demo-${at}.demo-headless.t.svc.cluster.local:8848`).join(" ");
    expect(env(nacos({ type: "cluster" }))).toEqual([
      "PREFER_HOST_MODE=hostname",
      "EMBEDDED_STORAGE=embedded",
      "NACOS_REPLICAS=3",
      `NACOS_SERVERS=${members}`,
    ]);
  });

  it("NACOS-510 keeps the first members when the number grows", () => {
    const servers = (replicas: number): string =>
      env(clusterOf({ replicas })).find((v) => v.startsWith("NACOS_SERVERS"))!;
    expect(servers(5).startsWith(`${servers(3)} demo-3.`)).toBe(true);
  });

  it("NACOS-412 does not change with the number of nodes when it lists no members", () => {
    expect(templateOf(nacos({ replicas: 0 }))).toEqual(templateOf(nacos({ replicas: 1 })));
    expect(templateOf(clusterOf({ replicas: 5 }))).not.toEqual(templateOf(clusterOf()));
  });

  it("NACOS-423 takes the cluster's domain from DOMAIN_NAME", () => {
    const resource = clusterOf({ replicas: 1, env: [{ name: "DOMAIN_NAME", value: "example.org" }] });
    expect(env(resource)).toContain("NACOS_SERVERS=demo-0.demo-headless.t.svc.example.org:8848");
    const none = { name: "DOMAIN_NAME", value: "" };
    expect(env(clusterOf({ env: [none] })).join()).toContain(".svc.cluster.local:");
    const twice = clusterOf({ env: [{ name: "DOMAIN_NAME", value: "example.org" }, none] });
    expect(env(twice).join()).toContain(".svc.example.org:");
  });

  it("NACOS-420 NACOS-421 announces host names in every mode, and the functions when not all are wanted", () => {
    expect(env(nacos({ function_mode: "naming" }))).toEqual(
      expect.arrayContaining(["PREFER_HOST_MODE=hostname", "FUNCTION_MODE=naming"]),
    );
    expect(env(nacos({ function_mode: "all" })).join()).not.toContain("FUNCTION_MODE");
  });

  it("NACOS-424 NACOS-704 tells Nacos its database, the password by reference only", () => {
    const database = (values: JsonMap): string[] => env(nacos({ database: values })).slice(1, -1);
    expect(database({ type: "mysql", mysqlPassword: "p w$1" })).toEqual([
      "SPRING_DATASOURCE_PLATFORM=mysql",
      "MYSQL_SERVICE_HOST=127.0.0.1",
      "MYSQL_SERVICE_PORT=3306",
      "MYSQL_SERVICE_DB_NAME=nacos",
      "MYSQL_SERVICE_USER=root",
      "MYSQL_SERVICE_PASSWORD=p w$1",
    ]);
    const reference = {
      type: "mysql",
      mysqlPassword: "x",
      mysqlHost: "db",
      credentialsSecretRef: { name: "s", passwordKey: "pw" },
    };
    expect(database(reference).slice(-2)).toEqual([
      "MYSQL_SERVICE_USER<-s/username",
      "MYSQL_SERVICE_PASSWORD<-s/pw",
    ]);
    for (const type of ["postgresql", "postgres", "pg"]) {
      expect(database({ type })).toEqual(["SPRING_DATASOURCE_PLATFORM=postgresql"]);
    }
    expect(database({ type: "oracle" })).toEqual([]);
    expect(database({ type: "" })).toEqual(["EMBEDDED_STORAGE=embedded"]);
  });

  it("NACOS-425 NACOS-805 switches authentication on, with a generated key unless one is given", () => {
    const auth = (certification: JsonMap): string[] =>
      env(nacos({ certification: { enabled: true, ...certification } })).filter((v) =>
        v.startsWith("NACOS_AUTH"),
      );
    expect(auth({})).toEqual([
      "NACOS_AUTH_ENABLE=true",
      "NACOS_AUTH_TOKEN_EXPIRE_SECONDS=18000",
      "NACOS_AUTH_TOKEN<-demo-nacos-auth/token",
      "NACOS_AUTH_CACHE_ENABLE=false",
    ]);
    expect(auth({ token: "T", cache_enabled: true, token_expire_seconds: "60" })).toEqual([
      "NACOS_AUTH_ENABLE=true",
      "NACOS_AUTH_TOKEN_EXPIRE_SECONDS=60",
      "NACOS_AUTH_TOKEN=T",
      "NACOS_AUTH_CACHE_ENABLE=true",
    ]);
    expect(auth({ token: "T", tokenSecretRef: { name: "s" } })[2]).toBe("NACOS_AUTH_TOKEN<-s/token");
    expect(env(nacos({ certification: { token: "T" } })).join()).not.toContain("AUTH");
  });

  it("NACOS-426 gives the nodes their identity, unless the user or the revision does not want it", () => {
    const identitySecretRef = { name: "id", keyKey: "k" };
    expect(env(nacos({ identitySecretRef }))).toEqual(
      expect.arrayContaining([
        "NACOS_AUTH_IDENTITY_KEY<-id/k",
        "NACOS_AUTH_IDENTITY_VALUE<-id/identity_value",
      ]),
    );
    const own = nacos({ identitySecretRef, env: [{ name: "NACOS_AUTH_IDENTITY_KEY", value: "mine" }] });
    expect(env(own).filter((v) => v.startsWith("NACOS_AUTH_IDENTITY_KEY"))).toEqual([
      "NACOS_AUTH_IDENTITY_KEY=mine",
    ]);
    const container = { name: "demo", env: [{ name: "NACOS_AUTH_IDENTITY_VALUE", value: "" }] };
    const wrapped = nacos({ identitySecretRef, k8sWrapper: { PodSpec: { containers: [container] } } });
    expect(env(wrapped)).toContain("NACOS_AUTH_IDENTITY_VALUE=");
    const peers = podTemplate(settingsOf(nacos({ identitySecretRef })), NONE, "peer");
    expect(envOf(nacosContainerOf(peers)).join()).not.toContain("IDENTITY");
  });

  it("NACOS-427 NACOS-428 puts the user's variables first, the operator's over them and the wrapper's last", () => {
    const resource = nacos({
      env: [
        { name: "Z", value: "$(A)" },
        { name: "A", value: "1" },
        { name: "PREFER_HOST_MODE", value: "ip" },
        { name: "A", value: "2" },
        { name: "B", value: "1" },
        { name: "B", value: "" },
        { name: "S", value: "plain" },
      ],
      k8sWrapper: {
        PodSpec: {
          containers: [
            {
              name: "demo",
              env: [
                { name: "S", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
                { name: "MODE", value: "mine" },
                { name: "EMBEDDED_STORAGE" },
                { name: "PREFER_HOST_MODE", value: "ip" },
                { name: "PREFER_HOST_MODE", value: "" },
                { name: "NEW", value: "n" },
              ],
            },
          ],
        },
      },
    });
    expect(env(resource)).toEqual([
      "Z=$(A)",
      "A=2",
      "B=",
      "S<-s/k",
      "PREFER_HOST_MODE=hostname",
      "EMBEDDED_STORAGE=embedded",
      "MODE=mine",
      "NEW=n",
    ]);
    expect(container(resource).env?.find(({ name }) => name === "S")).not.toHaveProperty("value");
  });

  it("NACOS-314 NACOS-460 NACOS-461 mounts the merged configuration as a single file and carries its digest", () => {
    const template = templateOf(nacos(), MERGED);
    expect(template.metadata.annotations).toEqual({ "nacos.io/config-digest": "c9294469fec85948" });
    const items = [{ key: "application.properties", path: "application.properties" }];
    expect(template.spec.volumes).toEqual([{ name: "config", configMap: { name: "demo-final", items } }]);
    expect(nacosContainerOf(template).volumeMounts).toEqual([
      {
        name: "config",
        mountPath: "/home/nacos/conf/application.properties",
        subPath: "application.properties",
      },
    ]);
    const secret: MountedConfig = { mode: "merged", name: "f", kind: "Secret", digest: "d" };
    expect(templateOf(nacos(), secret).spec.volumes).toEqual([
      { name: "config", secret: { secretName: "f", items } },
    ]);
  });

  it("NACOS-362 mounts the legacy configuration without a digest", () => {
    const template = templateOf(nacos(), { mode: "legacy", name: "demo" });
    expect(template.metadata).not.toHaveProperty("annotations");
    expect(template.spec.volumes).toEqual([
      {
        name: "config",
        configMap: { name: "demo", items: [{ key: "custom.properties", path: "custom.properties" }] },
      },
    ]);
    expect(nacosContainerOf(template).volumeMounts).toEqual([
      { name: "config", mountPath: "/home/nacos/init.d/custom.properties", subPath: "custom.properties" },
    ]);
  });

  it("NACOS-411 is the same in every pass, whatever the order of the resource's fields", () => {
    const spec = {
      nodeSelector: { b: "1", a: "2" },
      tolerations: [{ key: "k" }],
      k8sWrapper: {
        PodSpec: { hostAliases: [{ ip: "1.1.1.1", hostnames: ["h"] }], nodeSelector: { c: "3" } },
      },
    };
    const turned = Object.fromEntries(Object.entries(spec).reverse());
    expect(canonicalJson(templateOf(nacos(turned), MERGED))).toBe(
      canonicalJson(templateOf(nacos(spec), MERGED)),
    );
  });

  it("NACOS-212 NACOS-405 generates for revision 1 what it always has: a change of this file would roll running pods", () => {
    const golden = JSON.parse(
      readFileSync(new URL("../../test/golden/revision-1.json", import.meta.url), "utf8"),
    ) as {
      resource: Nacos;
      template: JsonMap;
    };
    expect(templateOf(golden.resource, MERGED)).toEqual(golden.template);
  });

  it("takes pull secrets and scheduling from the spec", () => {
    const spec = {
      imagePullSecrets: [{ name: "pull" }],
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "k", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
    };
    expect(templateOf(nacos(spec)).spec).toMatchObject(spec);
    expect(templateOf(nacos({ tolerations: [] })).spec).not.toHaveProperty("tolerations");
  });

  /** Where the product differs from the peer on purpose, by the first differing field. */
  const deviations: Readonly<Record<string, string>> = {
    "scale to zero": "containers.zero.env",
    "function_mode naming": "containers.fmn.env",
    "certification with defaults": "containers.cert.env",
    "mysql, defaults filled in": "containers.myd.env",
    "mysql with init image, cluster": "initContainers",
    "database type postgresql": "containers.pgt.env",
    "env: order, duplicates, valueFrom, override of an operator entry": "containers.env.env",
    "wrapper: merge into the Nacos container": "containers.wct.command",
    "wrapper: tolerations, nodeSelector, hostAliases, dns, spread": "tolerations",
    "type changed": "containers.tych.command",
  };

  it.each(
    peerCases().filter(({ expect: { children } }) => children.some(({ kind }) => kind === "StatefulSet")),
  )(
    "NACOS-405 NACOS-407 generates the peer's own template for: $name",
    ({ name, steps, expect: { children } }) => {
      const resource = lastResource(steps);
      const live = children.find(({ kind }) => kind === "StatefulSet") as unknown as StatefulSet;
      const generated = podTemplate(settingsOf(resource), mountedConfig(live), "peer");
      const found = difference("PodSpec", generated.spec, live.spec.template.spec);
      const deviation = deviations[name];
      if (deviation === undefined) expect(found).toBeUndefined();
      else expect(found).toMatch(new RegExp(`^${deviation}`));
      expect(generated.metadata.annotations).toEqual(live.spec.template.metadata.annotations);
    },
  );
});

/** The resource of a recorded case after all its steps. */
function lastResource(
  steps: ReturnType<typeof peerCases>[number]["steps"],
): Parameters<typeof settingsOf>[0] {
  let resource: JsonMap = {};
  for (const { op, object } of steps.filter((step) => step.object.kind === "Nacos")) {
    resource = op === "apply" ? object : mergePatch(resource, object);
  }
  return resource as unknown as Parameters<typeof settingsOf>[0];
}

function mergePatch(target: JsonMap, patch: JsonMap): JsonMap {
  const result = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const isMap = value !== null && typeof value === "object" && !Array.isArray(value);
    if (value === null) delete result[key];
    else result[key] = isMap ? mergePatch((result[key] ?? {}) as JsonMap, value as JsonMap) : value;
  }
  return result;
}
