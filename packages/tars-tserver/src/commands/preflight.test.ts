import type { CustomResourceDefinition, Lease } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { echoServer, webServer } from "../fixtures.testkit.ts";
import { type Findings, report } from "./preflight.ts";

const NOW = Date.UTC(2024, 0, 1);
const CLEAN: Findings = {
  ...{ crds: [], leases: [], webhooks: [], reclaimPolicy: undefined, servers: [], now: NOW },
};
const crd = (...storedVersions: string[]) =>
  ({
    metadata: { name: "tservers.k8s.tars.io" },
    status: { storedVersions },
  }) as unknown as CustomResourceDefinition;
const lease = (ageMs: number): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "tars-controller-manger", namespace: "tars-system" },
  spec: { holderIdentity: "pod-1", renewTime: new Date(NOW - ageMs).toISOString() },
});
const of = (found: Partial<Findings>) => report({ ...CLEAN, ...found });

describe("TARS-X-004", () => {
  it("nothing stands in the way of a cluster without the peer", () => {
    expect(of({ crds: [crd("v1beta3", "v1beta2")], servers: [echoServer()] })).toEqual([
      { blocks: false, text: "tservers.k8s.tars.io: stored versions v1beta3, v1beta2" },
    ]);
  });

  it("objects of v1beta1 block, with the commands that mend it", () => {
    const [, blocking] = of({ crds: [crd("v1beta1", "v1beta3")] });
    expect(blocking).toMatchObject({ blocks: true, text: expect.stringContaining("v1beta1") });
    expect(blocking?.text).toContain("kubectl replace");
    expect(blocking?.text).toContain('"storedVersions":["v1beta3"]');
  });

  it("a peer that runs blocks, one that has stopped does not", () => {
    expect(of({ leases: [lease(5_000)] })).toEqual([
      { blocks: true, text: expect.stringContaining("held by pod-1") },
    ]);
    expect(of({ leases: [lease(31_000)] })).toEqual([]);
  });

  it("its webhooks block", () => {
    expect(of({ webhooks: ["tars-mutating-webhook"] })).toEqual([
      { blocks: true, text: expect.stringContaining("tars-mutating-webhook") },
    ]);
  });

  it("TARS-LV-009 local volumes that would be removed are told of", () => {
    expect(of({ reclaimPolicy: "Delete" })).toEqual([
      { blocks: false, text: expect.stringContaining("Retain") },
    ]);
    expect(of({ reclaimPolicy: "Retain" })).toEqual([]);
  });

  it("servers that would be refused today are named with the rule", () => {
    const server = webServer({ mounts: [{ name: "Data", mountPath: "/d", source: { emptyDir: {} } }] });
    expect(of({ servers: [server] })).toEqual([
      { blocks: false, text: expect.stringMatching(/^TServer ns1\/demo-echoserver: .*lower-case DNS label/) },
    ]);
  });
});
