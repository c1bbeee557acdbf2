import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generatedSource, podTemplateSample } from "../generate.ts";
import {
  BUILT_IN,
  type OpenApiDocument,
  readTypes,
  strategicMerge,
  typeForKind,
  typeNameOf,
} from "./index.ts";
import { readTable, writeTable } from "./table-text.ts";

const POD_TEMPLATE_SPEC = "io.k8s.api.core.v1.PodTemplateSpec";
/** The part of `/openapi/v3/api/v1` that a pod template uses. */
const DOCUMENT = JSON.parse(
  readFileSync(new URL("../test/openapi/pod-template.gen.json", import.meta.url), "utf8"),
) as OpenApiDocument;

describe("readTypes", () => {
  it("DSP-401 walks the types that a pod template uses in an OpenAPI v3 document", () => {
    const { types } = readTypes(DOCUMENT, [POD_TEMPLATE_SPEC]);
    expect(types.get("PodTemplateSpec")).toEqual(
      new Map([
        ["metadata", { shape: { kind: "map", type: "meta.v1.ObjectMeta" }, strategies: [], mergeKey: "" }],
        ["spec", { shape: { kind: "map", type: "PodSpec" }, strategies: [], mergeKey: "" }],
      ]),
    );
    // Behind a bare reference, an allOf, the items of a list and the values of a map.
    for (const type of ["Container", "Probe", "VolumeProjection", "KeyToPath"]) {
      expect([...types.keys()]).toContain(type);
    }
  });

  it("DSP-401 DSP-402 follows references wherever a schema may hold them", () => {
    const ref = { $ref: "#/components/schemas/io.k8s.api.apps.v1.Inner" };
    const schemas = {
      Outer: {
        properties: {
          bare: ref,
          wrapped: { allOf: [ref], default: {} },
          listed: {
            type: "array",
            items: { allOf: [ref] },
            "x-kubernetes-patch-strategy": "merge,retainKeys",
            "x-kubernetes-patch-merge-key": "name",
          },
          mapped: { type: "object", additionalProperties: ref },
          words: { type: "array", items: { type: "string" } },
          labels: { type: "object", additionalProperties: { type: "string" } },
          port: { oneOf: [{ type: "integer" }, { type: "string" }], format: "int-or-string" },
        },
      },
      "io.k8s.api.apps.v1.Inner": { properties: { count: { type: "integer" } } },
    };
    const { types } = readTypes({ components: { schemas } }, ["Outer"]);
    const inner = { kind: "map", type: "apps.v1.Inner" };
    const plain = { strategies: [], mergeKey: "" };
    expect(Object.fromEntries(types.get("Outer")!)).toEqual({
      bare: { shape: inner, ...plain },
      wrapped: { shape: inner, ...plain },
      listed: {
        shape: { kind: "list", items: inner },
        strategies: ["merge", "retainKeys"],
        mergeKey: "name",
      },
      mapped: { shape: { kind: "freeMap", values: inner }, ...plain },
      words: { shape: { kind: "list", items: { kind: "scalar", scalar: "string" } }, ...plain },
      labels: { shape: { kind: "freeMap", values: { kind: "scalar", scalar: "string" } }, ...plain },
      port: { shape: { kind: "scalar", scalar: "intOrString" }, ...plain },
    });
    expect(types.get("apps.v1.Inner")?.get("count")).toEqual({
      shape: { kind: "scalar", scalar: "integer" },
      ...plain,
    });
  });

  it("DSP-403 pays no heed to what describes server-side apply", () => {
    const list = (extra: object): object => ({
      properties: { l: { type: "array", items: { type: "string" }, ...extra } },
    });
    const document = (extra: object): OpenApiDocument => ({ definitions: { T: list(extra) } });
    const applied = {
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
      "x-kubernetes-map-type": "atomic",
    };
    expect(readTypes(document(applied), ["T"])).toEqual(readTypes(document({}), ["T"]));
    // ports: list map keys containerPort and protocol, constraints: topologyKey and whenUnsatisfiable
    expect(BUILT_IN.types.get("Container")?.get("ports")?.mergeKey).toBe("containerPort");
    expect(BUILT_IN.types.get("PodSpec")?.get("topologySpreadConstraints")?.mergeKey).toBe("topologyKey");
  });

  it("DSP-403 merges a map that server-side apply takes as atomic", () => {
    const envOf = (reference: object): object => ({
      spec: { containers: [{ name: "a", env: [{ name: "E", valueFrom: { configMapKeyRef: reference } }] }] },
    });
    expect(
      strategicMerge("PodTemplateSpec", envOf({ name: "m", key: "k" }), envOf({ key: "other" })),
    ).toEqual(envOf({ name: "m", key: "other" }));
  });

  it("names the schema that a reference misses", () => {
    const schemas = { T: { properties: { a: { $ref: "#/components/schemas/Missing" } } } };
    expect(() => readTypes({ components: { schemas } }, ["T"])).toThrow("no schema Missing");
    expect(() => readTypes({}, ["T"])).toThrow("no schema T");
  });

  it("gives the engine a table of its own", () => {
    const table = readTypes(DOCUMENT, [POD_TEMPLATE_SPEC]);
    const original = { spec: { containers: [{ name: "a" }] } };
    expect(
      strategicMerge("PodTemplateSpec", original, { spec: { containers: [{ name: "b" }] } }, table),
    ).toEqual({
      spec: { containers: [{ name: "b" }, { name: "a" }] },
    });
  });
});

describe("the built-in table", () => {
  it("DSP-405 says of pod templates what the OpenAPI v3 document says", () => {
    const { types } = readTypes(DOCUMENT, [POD_TEMPLATE_SPEC]);
    expect(types.size).toBeGreaterThan(80);
    for (const [name, fields] of types) expect([name, BUILT_IN.types.get(name)]).toEqual([name, fields]);
  });

  it("DSP-405 merges exactly these lists of a pod template", () => {
    const merged: string[] = [];
    for (const name of readTypes(DOCUMENT, [POD_TEMPLATE_SPEC]).types.keys()) {
      for (const [field, { strategies, mergeKey }] of BUILT_IN.types.get(name)!) {
        if (strategies.length > 0) merged.push(`${name}.${field} ${mergeKey || "-"} ${strategies.join(",")}`);
      }
    }
    expect(merged.sort()).toEqual([
      "Container.env name merge",
      "Container.ports containerPort merge",
      "Container.volumeDevices devicePath merge",
      "Container.volumeMounts mountPath merge",
      "EphemeralContainer.env name merge",
      "EphemeralContainer.ports containerPort merge",
      "EphemeralContainer.volumeDevices devicePath merge",
      "EphemeralContainer.volumeMounts mountPath merge",
      "PodSpec.containers name merge",
      "PodSpec.ephemeralContainers name merge",
      "PodSpec.evictionResponders name merge",
      "PodSpec.hostAliases ip merge",
      "PodSpec.imagePullSecrets name merge",
      "PodSpec.initContainers name merge",
      "PodSpec.resourceClaims name merge,retainKeys",
      "PodSpec.schedulingGates name merge",
      "PodSpec.topologySpreadConstraints topologyKey merge",
      "PodSpec.volumes name merge,retainKeys",
      "meta.v1.ObjectMeta.finalizers - merge",
      "meta.v1.ObjectMeta.ownerReferences uid merge",
    ]);
  });

  it.each([
    ["PodSpec", "tolerations"],
    ["PodSpec", "readinessGates"],
    ["Container", "args"],
    ["Container", "command"],
    ["Container", "envFrom"],
    ["Container", "resizePolicy"],
    ["Container", "restartPolicyRules"],
    ["ResourceRequirements", "claims"],
    ["PodSecurityContext", "supplementalGroups"],
    ["PodSecurityContext", "sysctls"],
    ["Capabilities", "add"],
    ["PodDNSConfig", "options"],
    ["HostAlias", "hostnames"],
    ["ProjectedVolumeSource", "sources"],
    ["ConfigMapVolumeSource", "items"],
    ["NodeSelector", "nodeSelectorTerms"],
    ["HTTPGetAction", "httpHeaders"],
    ["TopologySpreadConstraint", "matchLabelKeys"],
    ["meta.v1.LabelSelector", "matchExpressions"],
  ])("DSP-405 DSP-410 replaces the list %s.%s", (type, name) => {
    expect(BUILT_IN.types.get(type)?.get(name)).toMatchObject({ shape: { kind: "list" }, strategies: [] });
  });

  it.each([
    ["meta.v1.ObjectMeta", "labels"],
    ["meta.v1.ObjectMeta", "annotations"],
    ["PodSpec", "nodeSelector"],
    ["PodSpec", "overhead"],
    ["ResourceRequirements", "requests"],
    ["CSIVolumeSource", "volumeAttributes"],
    ["FlexVolumeSource", "options"],
  ])("DSP-402 knows %s.%s as a free map", (type, name) => {
    expect(BUILT_IN.types.get(type)?.get(name)?.shape.kind).toBe("freeMap");
  });

  it("DSP-405 is what the generator writes for the same schemas", () => {
    const schemas = { ...DOCUMENT.components?.schemas };
    const metadata = { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" };
    const template = { $ref: `#/components/schemas/${POD_TEMPLATE_SPEC}` };
    const gvk = [{ group: "", version: "v1", kind: "PodTemplate" }];
    schemas["io.k8s.api.core.v1.PodTemplate"] = {
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata, template },
      "x-kubernetes-group-version-kind": gvk,
    };
    const lines = generatedSource({ components: { schemas } }).split("\n");
    const committed = new Set(readFileSync(new URL("metadata.gen.ts", import.meta.url), "utf8").split("\n"));
    expect(lines.length).toBeGreaterThan(80);
    expect(lines.filter((line) => !committed.has(line))).toEqual([]);
    expect(podTemplateSample(DOCUMENT)).toEqual(DOCUMENT);
  });

  it("survives being written and read", () => {
    expect(readTable(writeTable(BUILT_IN))).toEqual(BUILT_IN);
  });

  it("holds every type that one of its types refers to", () => {
    const named = writeTable(BUILT_IN).types.flatMap((line) => [
      ...line.matchAll(/[:[{]((?:[a-z0-9-]+\.)*[A-Z]\w+)/g),
    ]);
    expect(named.length).toBeGreaterThan(500);
    for (const [, name] of named) expect(BUILT_IN.types.has(name!)).toBe(true);
  });
});

describe("typeForKind", () => {
  it.each([
    ["", "v1", "Pod", "Pod"],
    ["", "v1", "Event", "Event"],
    ["events.k8s.io", "v1", "Event", "events.v1.Event"],
    ["apps", "v1", "StatefulSet", "apps.v1.StatefulSet"],
    ["apps", "v1", "ControllerRevision", "apps.v1.ControllerRevision"],
    ["batch", "v1", "Job", "batch.v1.Job"],
    ["networking.k8s.io", "v1", "Ingress", "networking.v1.Ingress"],
    ["rbac.authorization.k8s.io", "v1", "ClusterRole", "rbac.v1.ClusterRole"],
    ["apiextensions.k8s.io", "v1", "CustomResourceDefinition", "apiextensions.v1.CustomResourceDefinition"],
  ])("finds the type of %s/%s %s", (group, version, kind, type) => {
    expect(typeForKind(group, version, kind)).toBe(type);
    expect(BUILT_IN.types.get(type)?.get("metadata")?.shape).toEqual({
      kind: "map",
      type: "meta.v1.ObjectMeta",
    });
  });

  it("finds nothing for custom resources and unserved versions", () => {
    expect(typeForKind("apps.kruise.io", "v1beta1", "DaemonSet")).toBeUndefined();
    expect(typeForKind("apps", "v1beta1", "Deployment")).toBeUndefined();
  });
});

it("typeNameOf shortens the names of schemas", () => {
  expect(typeNameOf("io.k8s.api.core.v1.PodSpec")).toBe("PodSpec");
  expect(typeNameOf("io.k8s.api.apps.v1.DaemonSetSpec")).toBe("apps.v1.DaemonSetSpec");
  expect(typeNameOf("io.k8s.apimachinery.pkg.runtime.RawExtension")).toBe("RawExtension");
});
