import { expect, it } from "vitest";
import type { NodePatch, PodTemplate } from "../api.ts";
import { baseData, isSameTemplate, readRevision, snapshotData, snapshotHash } from "./revision-data.ts";

const TEMPLATE: PodTemplate = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "main", image: "a:1", resources: { limits: { cpu: "1000m" } } }] },
};
const PATCHES: NodePatch[] = [{ selector: {}, patch: { metadata: { annotations: { a: null, b: "<" } } } }];

it("DSP-610 a snapshot holds the base data and the whole list, nulls included", () => {
  const text = snapshotData(TEMPLATE, PATCHES);
  expect(JSON.parse(text)).toEqual({ ...JSON.parse(baseData(TEMPLATE)), patches: PATCHES });
  expect(readRevision(JSON.parse(text))?.patches).toEqual(PATCHES);
  expect(readRevision(JSON.parse(baseData(TEMPLATE)))?.patches).toBeUndefined();
});

it("DSP-610 the hash of a snapshot changes with the template and with the list", () => {
  const other = { ...TEMPLATE, metadata: { labels: { app: "b" } } };
  const hashes = [
    snapshotHash(TEMPLATE, PATCHES),
    snapshotHash(other, PATCHES),
    snapshotHash(TEMPLATE, [{ ...PATCHES[0]!, priority: 1 }]),
  ];
  expect(new Set(hashes).size).toBe(3);
  expect(snapshotHash(structuredClone(TEMPLATE), structuredClone(PATCHES))).toBe(hashes[0]);
});

it("DSP-116 DSP-606 nulls, empty resources and forms of quantities do not tell templates apart", () => {
  const stored = {
    metadata: { creationTimestamp: null, labels: { app: "a" } },
    spec: { containers: [{ image: "a:1", name: "main", resources: { limits: { cpu: "1" } } }] },
  };
  expect(isSameTemplate(TEMPLATE, stored)).toBe(true);
  const changed = structuredClone(stored);
  changed.spec.containers[0]!.resources.limits.cpu = "2";
  expect(isSameTemplate(TEMPLATE, changed)).toBe(false);
});

it("data of another form is no revision", () => {
  for (const data of [undefined, null, [], {}, { spec: {} }, { spec: { template: [] } }]) {
    expect(readRevision(data)).toBeUndefined();
  }
});

it("DSP-605 what Go writes though it is empty stands in the data: a probe's service, a header's value, a LUN of 0", () => {
  const text = (spec: object): string => baseData({ spec: { containers: [], ...spec } } as PodTemplate);
  const container = (more: object): string => text({ containers: [{ name: "a", image: "a:1", ...more }] });
  expect(container({ livenessProbe: { grpc: { port: 1 } } })).toContain('"grpc":{"port":1,"service":null}');
  expect(
    container({ readinessProbe: { httpGet: { port: 80, httpHeaders: [{ name: "h", value: "" }] } } }),
  ).toContain('"httpHeaders":[{"name":"h","value":""}]');
  expect(container({ lifecycle: { preStop: { sleep: { seconds: 0 } } } })).toContain('"sleep":{"seconds":0}');
  expect(text({ securityContext: { sysctls: [{ name: "s" }] } })).toContain('[{"name":"s","value":""}]');
  const iscsi = { targetPortal: "t", iqn: "i", lun: 0 };
  expect(text({ volumes: [{ name: "v", iscsi }] })).toContain('"lun":0');
  expect(text({ volumes: [{ name: "v", projected: {} }] })).toContain('"projected":{"sources":null}');
  expect(text({ volumes: [{ name: "v", projected: { sources: [] } }] })).toContain('{"sources":[]}');
});
