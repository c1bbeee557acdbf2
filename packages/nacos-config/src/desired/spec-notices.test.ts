import { describe, expect, it } from "vitest";
import { clusterOf, nacos } from "../fixtures.testkit.ts";
import { settingsOf } from "./settings.ts";
import { specNotices } from "./spec-notices.ts";

const reasons = (resource: ReturnType<typeof nacos>): string[] =>
  specNotices(settingsOf(resource)).map(({ type, reason }) => `${type} ${reason}`);
const PERSISTENT = { volume: { volumeClaimTemplate: {} } };
const clean = (spec: object = {}) => nacos({ ...PERSISTENT, ...spec });

describe("what is said about a spec", () => {
  it("says nothing about a sound one", () => {
    expect(reasons(clean())).toEqual([]);
    expect(reasons(clusterOf(PERSISTENT))).toEqual([]);
  });

  it("NACOS-107 warns of an even number of nodes in a cluster", () => {
    expect(reasons(clusterOf({ ...PERSISTENT, replicas: 4 }))).toEqual(["Warning EvenReplicas"]);
    expect(reasons(clusterOf({ ...PERSISTENT, replicas: 0 }))).toEqual([]);
  });

  it("NACOS-114 warns of a nested pod spec", () => {
    expect(reasons(clean({ k8sWrapper: { PodSpec: { spec: {} } } }))).toEqual([
      "Warning WrapperNestedSpecIgnored",
    ]);
  });

  it("NACOS-364 NACOS-366 tells when the legacy text is ignored or read by nobody", () => {
    expect(reasons(clean({ config: "a=1", userConfigRef: { name: "uc" } }))).toEqual([
      "Normal LegacyConfigIgnored",
    ]);
    expect(reasons(clean({ config: "a=1" }))).toEqual(["Warning LegacyConfigIneffective"]);
    expect(reasons(clean({ config: "a=1", image: "nacos/nacos-server:2.1.1" }))).toHaveLength(1);
    expect(reasons(clean({ config: "a=1", image: "nacos/nacos-server:2.1.0" }))).toEqual([]);
    expect(reasons(clean({ config: "a=1", image: "nacos/nacos-server:latest" }))).toEqual([]);
  });

  it("NACOS-447 tells that the wrapper mounts the configuration itself", () => {
    const container = {
      name: "demo",
      volumeMounts: [{ name: "x", mountPath: "/home/nacos/conf/application.properties" }],
    };
    const spec = { userConfigRef: { name: "uc" }, k8sWrapper: { PodSpec: { containers: [container] } } };
    expect(reasons(clean(spec))).toEqual(["Normal FinalConfigMountOverridden"]);
  });

  it("NACOS-601 NACOS-701 warns of several volumes, and of an embedded database on none", () => {
    expect(reasons(nacos({ volume: { hostPath: { path: "/d" }, emptyDir: {} } }))).toEqual([
      "Warning VolumeIgnored",
    ]);
    expect(reasons(nacos())).toEqual(["Warning EphemeralData"]);
    expect(reasons(clusterOf({ volume: { emptyDir: {} } }))).toEqual(["Warning EphemeralData"]);
    expect(reasons(nacos({ database: { type: "postgresql" } }))).toEqual([]);
  });

  it("NACOS-613 names fields of a claim template that a claim does not have", () => {
    const misplaced = nacos({
      volume: { volumeClaimTemplate: { storageClassName: "fast", spec: { size: 1 } } },
    });
    expect(reasons(misplaced)).toEqual(["Warning VolumeFieldIgnored"]);
    const [notice] = specNotices(settingsOf(misplaced));
    expect(notice?.note).toContain("spec.size, storageClassName is no field of a claim");
  });

  it("NACOS-1003 tells that claims are kept whatever keepAfterDeletion says", () => {
    const volume = (more: object) => nacos({ volume: { volumeClaimTemplate: {}, ...more } });
    expect(reasons(volume({ keepAfterDeletion: false }))).toEqual(["Normal PvcRetained"]);
    expect(reasons(volume({ keepAfterDeletion: true }))).toEqual([]);
    expect(reasons(volume({ keepAfterDeletion: false, deletePolicy: "Delete" }))).toEqual([]);
  });

  it("NACOS-704 warns of a plain password beside a Secret", () => {
    const database = { type: "mysql", mysqlPassword: "MARK", credentialsSecretRef: { name: "s" } };
    expect(reasons(clean({ database }))).toEqual(["Warning MysqlPasswordIgnored"]);
    expect(JSON.stringify(specNotices(settingsOf(clean({ database }))))).not.toContain("MARK");
  });

  it("NACOS-801 warns of an administrator without a database to keep it in", () => {
    const adminCredentialsSecretRef = { name: "admin" };
    expect(reasons(clean({ adminCredentialsSecretRef }))).toEqual(["Warning AdminCredentialsIgnored"]);
    expect(reasons(clean({ adminCredentialsSecretRef, postgres: { host: "pg" } }))).toEqual([]);
  });

  it("NACOS-814 lists the variables without which Nacos 3 does not start", () => {
    const three = { image: "nacos/nacos-server:v3.0.1" };
    const [notice] = specNotices(settingsOf(clean(three)));
    expect(notice?.reason).toBe("Nacos3AuthEnvMissing");
    expect(notice?.note).toMatch(/NACOS_AUTH_TOKEN, NACOS_AUTH_IDENTITY_KEY, NACOS_AUTH_IDENTITY_VALUE/);
    const token = {
      ...three,
      certification: { enabled: true },
      env: [{ name: "NACOS_AUTH_IDENTITY_KEY", value: "k" }],
    };
    expect(specNotices(settingsOf(clean(token)))[0]?.note).toMatch(/without NACOS_AUTH_IDENTITY_VALUE$/);
    expect(reasons(clean({ ...token, identitySecretRef: { name: "i" } }))).toEqual([]);
  });
});
