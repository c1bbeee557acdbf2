import type { JsonMap } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { nacos, stored, templateOf } from "../fixtures.testkit.ts";
import { type ClaimChange, claimChange } from "./claims.ts";
import { settingsOf } from "./settings.ts";
import { newStatefulSet } from "./statefulset.ts";
import { dataVolume } from "./volumes.ts";

const claim = (spec: JsonMap = {}, metadata: JsonMap = {}): JsonMap => ({
  volumeClaimTemplate: { metadata, spec },
});

/** Change between the volumes of two specs; the first is live, as the API server stores it. */
function change(before: JsonMap, after: JsonMap): ClaimChange {
  const old = nacos({ volume: before });
  const live = stored(newStatefulSet(settingsOf(old), { mode: "none" }));
  for (const template of live.spec.volumeClaimTemplates ?? []) {
    Object.assign(template, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      status: { phase: "Pending" },
    });
    Object.assign(template.spec, { volumeMode: "Filesystem" });
  }
  const resource = nacos({ volume: after });
  const wanted = dataVolume(settingsOf(resource).spec)?.claim;
  return claimChange({ template: templateOf(resource), claims: wanted === undefined ? [] : [wanted] }, live);
}

describe("data volume", () => {
  const volumes = (volume: JsonMap) => dataVolume(settingsOf(nacos({ volume })).spec);

  it("NACOS-601 mounts the first kind that is set at the data path", () => {
    const hostPath = { path: "/data", type: "DirectoryOrCreate" };
    const first = volumes({ emptyDir: {}, hostPath, ...claim() });
    expect(first).toEqual({
      volume: { name: "db", hostPath },
      mount: { name: "db", mountPath: "/home/nacos/data" },
    });
    expect(volumes({ emptyDir: { sizeLimit: "1Gi" }, ...claim() })?.volume).toEqual({
      name: "db",
      emptyDir: { sizeLimit: "1Gi" },
    });
    expect(volumes({ persistentVolumeSize: "1Gi" })).toBeUndefined();
    expect(volumes({ enabled: false })).toBeUndefined();
  });

  it("NACOS-602 NACOS-603 fills name, access mode and size of a claim template, and no class", () => {
    expect(volumes({ volumeClaimTemplate: {}, persistentVolumeSize: "3Gi" })?.claim).toEqual({
      metadata: { name: "db" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "3Gi" } } },
    });
    const nameless = volumes(claim({}, { name: "", labels: { a: "b" } }));
    expect(nameless?.claim?.metadata).toEqual({ name: "db", labels: { a: "b" } });
    const own = {
      accessModes: ["ReadWriteMany"],
      storageClassName: "fast",
      resources: { requests: { storage: "1Gi" } },
    };
    const named = volumes({ ...claim(own, { name: "data" }), persistentVolumeSize: "3Gi" });
    expect(named?.claim?.spec).toEqual({ ...own, resources: { requests: { storage: "3Gi" } } });
    expect(named?.mount).toEqual({ name: "data", mountPath: "/home/nacos/data" });
    const upstream = volumes({ enabled: true, requests: { storage: "2Gi" }, storageClass: "slow" });
    expect(upstream?.claim?.spec).toEqual({
      accessModes: ["ReadWriteOnce"],
      storageClassName: "slow",
      resources: { requests: { storage: "2Gi" } },
    });
  });
});

describe("change of volumes", () => {
  it("NACOS-604 sees none in labels, defaults of the server, or another spelling of a size", () => {
    expect(
      change(
        { ...claim(), persistentVolumeSize: "1Gi" },
        { ...claim({}, { labels: { a: "b" } }), persistentVolumeSize: "1024Mi" },
      ),
    ).toEqual({ change: "none" });
    expect(change(claim({ storageClassName: "fast" }), claim())).toEqual({ change: "none" });
    expect(change({}, {})).toEqual({ change: "none" });
  });

  it("NACOS-604 knows the data path with a slash behind it, as a wrapper may write it", () => {
    const mounts = [{ name: "own", mountPath: "/home/nacos/data/" }];
    const wrapper = {
      volumes: [{ name: "own", emptyDir: {} }],
      containers: [{ name: "demo", volumeMounts: mounts }],
    };
    const resource = nacos({ volume: { emptyDir: {} }, k8sWrapper: { PodSpec: wrapper } });
    const plain = nacos({ volume: { emptyDir: {} } });
    const live = stored(newStatefulSet(settingsOf(plain), { mode: "none" }));
    expect(claimChange({ template: templateOf(resource), claims: [] }, live)).toEqual({ change: "none" });
  });

  it("NACOS-605 NACOS-608 tells growth from shrinking", () => {
    const sized = (persistentVolumeSize: string): JsonMap => ({ ...claim(), persistentVolumeSize });
    expect(change(sized("1Gi"), sized("2Gi"))).toEqual({ change: "grown", from: "1Gi", to: "2Gi" });
    expect(change(sized("2Gi"), sized("1Gi"))).toEqual({ change: "shrunk", from: "2Gi", to: "1Gi" });
  });

  it.each<[what: string, before: JsonMap, after: JsonMap]>([
    ["storage class", claim({ storageClassName: "a" }), claim({ storageClassName: "b" })],
    ["access modes", claim(), claim({ accessModes: ["ReadWriteMany"] })],
    ["name of the claim", claim({}, { name: "a" }), claim({}, { name: "b" })],
    ["kind of the data volume", { hostPath: { path: "/d" } }, { emptyDir: {} }],
    ["kind of the data volume", {}, claim()],
  ])("NACOS-609 names another %s", (what, before, after) => {
    expect(change(before, after)).toMatchObject({ change: "unsupported", what });
  });
});
