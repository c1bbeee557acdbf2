/**
 * The template of the golden vectors, and where their fragments go: into container `a`, the pod spec or the metadata.
 */
import { type JsonMap, strategicMerge } from "../src/index.ts";
import { deepFreeze } from "./freeze.ts";

export interface Template {
  metadata: JsonMap;
  spec: JsonMap & { containers: JsonMap[] };
}

export const BASE: Template = deepFreeze({
  metadata: { labels: { app: "x" }, finalizers: ["f/a", "f/b"] },
  spec: {
    containers: [
      {
        name: "a",
        image: "i",
        args: ["--x", "--y"],
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
          { name: "C", value: "3" },
        ],
        ports: [
          { containerPort: 53, protocol: "TCP", name: "t" },
          { containerPort: 53, protocol: "UDP", name: "u" },
        ],
        resources: { requests: { cpu: "100m" }, limits: { memory: "1Gi" } },
        livenessProbe: { exec: { command: ["x"] }, periodSeconds: 3 },
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "w", mountPath: "/w" },
        ],
      },
      { name: "b", image: "j" },
    ],
    volumes: [
      { name: "v", emptyDir: {} },
      { name: "w", hostPath: { path: "/w" } },
    ],
    tolerations: [{ key: "k" }],
    hostAliases: [{ ip: "1.1.1.1", hostnames: ["a"] }],
    topologySpreadConstraints: [
      { topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", maxSkew: 1 },
      { topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 2 },
      { topologyKey: "host", whenUnsatisfiable: "DoNotSchedule", maxSkew: 1 },
    ],
  },
});

function merged(patch: JsonMap): Template {
  return strategicMerge("PodTemplateSpec", BASE, deepFreeze(patch));
}

export const inMetadata = (fragment: JsonMap): JsonMap => merged({ metadata: fragment }).metadata;
export const inSpec = (fragment: JsonMap): JsonMap => merged({ spec: fragment }).spec;
export const inA = (fragment: JsonMap): JsonMap => {
  const { containers } = merged({ spec: { containers: [{ name: "a", ...fragment }] } }).spec;
  return containers.find(({ name }) => name === "a")!;
};

export const item = (name: string, value?: string): JsonMap =>
  value === undefined ? { name } : { name, value };
export const remove = (name: string): JsonMap => ({ name, $patch: "delete" });
export const order = (...keys: string[]): JsonMap[] => keys.map((name) => ({ name }));
