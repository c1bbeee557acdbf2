import { describe, expect, it } from "vitest";
import type { PodTemplate } from "../api.ts";
import { inPlaceChange, inPlaceState, isUpdateComplete } from "./in-place.ts";

const template = (spec: object = {}, metadata: object = {}): PodTemplate =>
  ({
    metadata: { labels: { app: "a" }, ...metadata },
    spec: {
      containers: [
        { name: "main", image: "agent:1", resources: { limits: { cpu: "1000m" } } },
        { name: "side", image: "side:1" },
      ],
      ...spec,
    },
  }) as unknown as PodTemplate;
const containers = (main: object, side: object = {}) => ({
  containers: [
    { name: "main", image: "agent:1", resources: { limits: { cpu: "1000m" } }, ...main },
    { name: "side", image: "side:1", ...side },
  ],
});

describe("DSP-818 what changes in place", () => {
  it("images, labels and annotations do, whatever form the rest has", () => {
    const after = template(containers({ image: "agent:2", resources: { limits: { cpu: "1" } } }), {
      labels: { app: "a", more: "x" },
      annotations: { note: "1" },
    });
    expect(inPlaceChange(template(), after)).toEqual({
      images: { main: "agent:2" },
      labels: { more: "x" },
      annotations: { note: "1" },
    });
    expect(inPlaceChange(after, template())).toMatchObject({
      labels: { more: null },
      annotations: { note: null },
    });
  });

  it("DSP-821 environment, resources, arguments, volumes and containers do not", () => {
    const others = [
      containers({ env: [{ name: "A", value: "1" }] }),
      containers({ resources: { limits: { cpu: "2" } } }),
      containers({ args: ["x"] }),
      { volumes: [{ name: "v", emptyDir: {} }] },
      { containers: [{ name: "main", image: "agent:1", resources: { limits: { cpu: "1" } } }] },
      { initContainers: [{ name: "init", image: "i:1" }] },
    ];
    for (const spec of others) expect(inPlaceChange(template(), template(spec))).toBeUndefined();
  });

  it("a label that a container has in its environment does not", () => {
    const env = (path: string) => [{ name: "L", valueFrom: { fieldRef: { fieldPath: path } } }];
    const read = containers({ env: env("metadata.labels['more']") });
    const more = { labels: { app: "a", more: "x" } };
    expect(inPlaceChange(template(read), template(read, more))).toBeUndefined();
    const other = containers({ env: env("metadata.labels['app']") });
    expect(inPlaceChange(template(other), template(other, more))).toMatchObject({ labels: { more: "x" } });
  });
});

describe("an update in place", () => {
  const now = Date.parse("2026-01-02T03:04:05.678Z");
  const statuses = [{ name: "main", image: "agent:1", imageID: "id-1" }];

  it("DSP-822 is told in the annotation of the peer, member by member", () => {
    expect(inPlaceState("r2", { main: "agent:2" }, statuses, now)).toBe(
      '{"revision":"r2","updateTimestamp":"2026-01-02T03:04:05Z","lastContainerStatuses":{"main":{"imageID":"id-1"}},' +
        '"updateImages":true,"containerBatchesRecord":[{"timestamp":"2026-01-02T03:04:05Z","containers":["main"]}]}',
    );
    expect(inPlaceState("r2", {}, statuses, now)).toBe(
      '{"revision":"r2","updateTimestamp":"2026-01-02T03:04:05Z","lastContainerStatuses":{}}',
    );
  });

  it("DSP-823 is done with another image id, the wanted image, or a restart, and never waits for more", () => {
    const pod = (image: string, status: object, wanted = "agent:2") => ({
      metadata: {
        name: "p",
        annotations: {
          "apps.kruise.io/inplace-update-state": inPlaceState("r2", { main: image }, statuses, now),
        },
      },
      spec: { containers: [{ name: "main", image: wanted }] },
      status: { containerStatuses: [{ name: "main", image: "agent:1", imageID: "id-1", ...status }] },
    });
    expect(isUpdateComplete(pod("agent:2", {}))).toBe(false);
    expect(isUpdateComplete(pod("agent:2", { imageID: "id-2" }))).toBe(true);
    expect(isUpdateComplete(pod("agent:2", { image: "docker.io/library/agent:2" }))).toBe(true);
    expect(isUpdateComplete(pod("agent", { image: "docker.io/library/agent:latest" }, "agent"))).toBe(true);
    const restarted = (startedAt: string) => ({ state: { running: { startedAt } } });
    expect(isUpdateComplete(pod("agent:2", restarted("2026-01-02T03:04:06Z")))).toBe(true);
    expect(isUpdateComplete(pod("agent:2", restarted("2026-01-02T03:04:04Z")))).toBe(false);
  });

  it("DSP-823 an annotation that nobody can read holds no pod back", () => {
    const metadata = { name: "p", annotations: { "apps.kruise.io/inplace-update-state": "{" } };
    expect(isUpdateComplete({ metadata })).toBe(true);
  });
});
