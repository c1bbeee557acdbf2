import type { JsonMap } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { renderNacos } from "../desired/render.ts";
import { clusterOf, nacos } from "../fixtures.testkit.ts";
import { type Existing, validate } from "./validate.ts";

/** `reason path` of every fault. */
function faults(resource: Parameters<typeof validate>[0], existing: Existing = {}): string[] {
  return validate(resource, existing).map(({ reason, path }) => `${reason} ${path}`);
}

const refs = (more: JsonMap = {}): JsonMap => ({
  internalConfigRef: { name: "ic" },
  userConfigRef: { name: "uc" },
  ...more,
});

describe("validation of resources", () => {
  it("finds nothing wrong with the rule book's base objects", () => {
    expect(faults(clusterOf(refs({ finalConfigName: "demo-final" })))).toEqual([]);
    expect(faults(nacos())).toEqual([]);
    expect(faults({ apiVersion: "v", kind: "Nacos", metadata: { name: "demo" } })).toEqual([
      "ImageMissing spec.image",
    ]);
  });

  it("NACOS-103 refuses an unknown type by name and value, and takes an empty one for standalone", () => {
    const [fault] = validate(nacos({ type: "clutser" }));
    expect(fault).toMatchObject({ reason: "TypeUnknown", path: "spec.type" });
    expect(fault?.message).toContain('"clutser"');
    expect(faults(nacos({ type: "" }))).toEqual([]);
    expect(faults(nacos({ type: "", replicas: 2 }))).toEqual(["StandaloneReplicas spec.replicas"]);
  });

  it("NACOS-104 refuses several standalone nodes, none and one are fine", () => {
    expect(faults(nacos({ type: "standalone", replicas: 2 }))).toEqual(["StandaloneReplicas spec.replicas"]);
    expect(faults(nacos({ replicas: 1 }))).toEqual([]);
    expect(faults(nacos({ replicas: 0 }))).toEqual([]);
    expect(faults(clusterOf({ replicas: -1 }))).toEqual(["ReplicasInvalid spec.replicas"]);
  });

  it("NACOS-104 NACOS-209 refuses more nodes than can be listed, at no cost", () => {
    const many = { replicas: 2_147_483_647, image: "nacos/nacos-server:v3.0.1" };
    expect(faults(clusterOf(many))).toEqual(["ReplicasInvalid spec.replicas"]);
    expect(faults(clusterOf({ replicas: 1_000 }))).toEqual([]);
    expect(renderNacos(clusterOf(many), []).objects).toEqual([]);
  });

  it("NACOS-108 refuses a resource without image", () => {
    expect(faults(nacos({ image: "" }))).toEqual(["ImageMissing spec.image"]);
  });

  it("NACOS-109 refuses names that the Services or the labels of the pods cannot have", () => {
    const named = (name: string): string[] => faults(nacos({}, { name }));
    expect(named("a".repeat(52))).toEqual([]);
    expect(named("a".repeat(53))).toEqual(["NameInvalid metadata.name"]);
    expect(validate(nacos({}, { name: "a".repeat(54) }), { type: "standalone" })).toEqual([]);
    expect(named("a".repeat(55))).toEqual(["NameInvalid metadata.name"]);
    expect(named("a.b")).toEqual(["NameInvalid metadata.name"]);
    expect(named("1demo")).toEqual(["NameInvalid metadata.name"]);
  });

  it("NACOS-109 refuses a new resource whose name leaves no room for the Job of MySQL, and no existing one", () => {
    const of = (length: number, spec: JsonMap, existing?: Existing): string[] =>
      validate(nacos(spec, { name: "a".repeat(length) }), existing).map(({ message }) => message);
    const mysql = {
      mysqlInitImage: "example/mysql:8.4",
      database: { type: "mysql", credentialsSecretRef: { name: "login" } },
    };
    expect(of(48, mysql)).toEqual([]);
    expect(of(49, mysql)).toEqual([
      expect.stringMatching(
        /Job a{49}-mysql-sql-init .* at most 48 characters, it has 49; take a shorter name/,
      ),
    ]);
    expect(of(49, { ...mysql, mysqlInitImage: "" })).toEqual([]);
    expect(of(49, mysql, { type: "standalone" })).toEqual([]);
    // Its StatefulSet was deleted a moment ago.
    const made = { ...nacos(mysql, { name: "a".repeat(49) }), status: { templateRevision: "1" } };
    expect(faults(made)).toEqual([]);
  });

  it("NACOS-110 refuses sizes that are no quantities, wherever they stand", () => {
    const template = { spec: { resources: { requests: { storage: "x" } } } };
    expect(faults(nacos({ volume: { persistentVolumeSize: "10Gb!" } }))).toEqual([
      "QuantityInvalid spec.volume.persistentVolumeSize",
    ]);
    expect(faults(nacos({ volume: { volumeClaimTemplate: template } }))).toHaveLength(1);
    expect(faults(nacos({ volume: { requests: { storage: "y" } } }))).toHaveLength(1);
    expect(faults(nacos({ volume: { persistentVolumeSize: "10Gi", requests: { storage: 5 } } }))).toEqual([]);
  });

  it("NACOS-112 takes a reference without name for none", () => {
    const resource = nacos({ userConfigRef: {}, internalConfigRef: { name: "", key: "ü" } });
    expect(faults(resource)).toEqual([]);
  });

  it("NACOS-113 refuses two different wrappers and takes equal ones", () => {
    const wrapper = (podSpec: JsonMap): JsonMap => ({
      k8sWrapper: { PodSpec: { hostNetwork: true, dnsPolicy: "Default" }, podSpec },
    });
    expect(faults(nacos(wrapper({ dnsPolicy: "Default", hostNetwork: true })))).toEqual([]);
    expect(faults(nacos(wrapper({ dnsPolicy: "Default" })))).toEqual(["WrapperAmbiguous spec.k8sWrapper"]);
  });

  it("NACOS-450 refuses what would get lost in the merge: no list, and elements that are no objects", () => {
    const of = (PodSpec: JsonMap): string[] => faults(nacos({ k8sWrapper: { PodSpec } }));
    const at = (path: string): string => `WrapperInvalid spec.k8sWrapper.PodSpec.${path}`;
    expect(of({ containers: { name: "demo" }, volumes: "x", tolerations: {} })).toEqual([
      at("containers"),
      at("volumes"),
      at("tolerations"),
    ]);
    expect(of({ hostAliases: ["10.0.0.1"] })).toEqual([at("hostAliases")]);
    expect(of({ containers: [{ name: "side" }, { name: "demo", env: { A: "1" }, ports: [8848] }] })).toEqual([
      at("containers[1].env"),
      at("containers[1].ports"),
    ]);
    expect(of({ containers: [{ name: "demo", env: null, ports: [] }], volumes: null })).toEqual([]);
    expect(faults(nacos({ k8sWrapper: { podSpec: { volumes: {} } } }))).toEqual([
      "WrapperInvalid spec.k8sWrapper.podSpec.volumes",
    ]);
  });

  it("NACOS-115 refuses another type than the StatefulSet's, naming both", () => {
    const [fault] = validate(nacos(), { type: "cluster" });
    expect(fault).toMatchObject({ reason: "TypeImmutable", path: "spec.type" });
    expect(fault?.message).toMatch(/cluster.*standalone/);
    expect(faults(clusterOf(), { type: "cluster" })).toEqual([]);
  });

  it("NACOS-322 refuses a source that is the generated object, but not one of the other kind", () => {
    const loop = refs({ finalConfigName: "uc" });
    expect(faults(nacos(loop))).toEqual(["ConfigLoop spec.userConfigRef"]);
    expect(faults(nacos({ userConfigRef: { name: "demo-final-config" } }))).toEqual([
      "ConfigLoop spec.userConfigRef",
    ]);
    expect(
      faults(
        nacos({
          userConfigRef: { name: "f", kind: "ConfigMap" },
          finalConfigKind: "Secret",
          finalConfigName: "f",
        }),
      ),
    ).toEqual([]);
  });

  it("NACOS-322 refuses the names of its other objects for the generated one", () => {
    const called = (finalConfigName: string, finalConfigKind: string): string[] =>
      faults(nacos({ userConfigRef: { name: "uc" }, finalConfigName, finalConfigKind }));
    const taken = ["NameInvalid spec.finalConfigName"];
    expect(called("demo-mysql-sql-init", "ConfigMap")).toEqual(taken);
    expect(called("demo-nacos-auth", "Secret")).toEqual(taken);
    expect(called("demo-nacos-auth", "ConfigMap")).toEqual([]);
    expect(called("other-nacos-auth", "Secret")).toEqual([]);
  });

  it("NACOS-350 refuses a Secret source that would end in a ConfigMap", () => {
    const secret = { userConfigRef: { name: "sc", kind: "Secret" } };
    expect(faults(nacos(secret))).toEqual([]);
    expect(faults(nacos({ ...secret, finalConfigKind: "Secret" }))).toEqual([]);
    expect(faults(nacos({ ...secret, finalConfigKind: "ConfigMap" }))).toEqual([
      "SecretLeak spec.finalConfigKind",
    ]);
  });

  it("refuses references that no object can have", () => {
    expect(faults(nacos({ userConfigRef: { name: "A_b", key: "k" } }))).toEqual([
      "NameInvalid spec.userConfigRef.name",
    ]);
    expect(faults(nacos({ userConfigRef: { name: "a", key: "a/b" } }))).toEqual([
      "KeyInvalid spec.userConfigRef.key",
    ]);
    expect(faults(nacos(refs({ finalConfigName: "-x" })))).toEqual(["NameInvalid spec.finalConfigName"]);
  });

  it("NACOS-703 wants a MySQL password, unless the peer's default is in force already", () => {
    const mysql = (more: JsonMap = {}): JsonMap => ({ database: { type: "mysql", ...more } });
    const missing = "DatabasePasswordMissing spec.database.credentialsSecretRef";
    expect(faults(nacos(mysql()))).toEqual([missing]);
    expect(faults(nacos(mysql()), { adopted: true })).toEqual([]);
    expect(faults(nacos(mysql({ mysqlPassword: "x" })))).toEqual([]);
    expect(faults(nacos(mysql({ credentialsSecretRef: { name: "s" } })))).toEqual([]);
    expect(faults(nacos(mysql({ mysqlPassword: "x", mysqlPort: "high" })))).toEqual([
      "PortInvalid spec.database.mysqlPort",
    ]);
  });

  it("NACOS-807 refuses a token that Nacos would not start with", () => {
    const auth = (token: string): JsonMap => ({ certification: { enabled: true, token } });
    const weak = ["TokenTooWeak spec.certification.token"];
    expect(faults(nacos(auth(Buffer.alloc(32, 7).toString("base64"))))).toEqual([]);
    expect(faults(nacos(auth(Buffer.alloc(31, 7).toString("base64"))))).toEqual(weak);
    expect(faults(nacos(auth("no base64! ".repeat(9))))).toEqual(weak);
    expect(faults(nacos({ certification: { enabled: false, token: "x" } }))).toEqual([]);
    expect(validate(nacos(auth("short-secret")))[0]?.message).not.toContain("short-secret");
  });
});
