/** Objects that many cases use. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";

export const GROUP = "conformance.quartet.io";
export const WIDGETS = `${GROUP}/v1`;

export const configMap = (
  name: string,
  data: Record<string, string> = { a: "1" },
  more: object = {},
): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...more },
  data,
});

export const container = (image = "app:1"): object => ({ name: "main", image });

/** A pod that no scheduler takes. */
export const pod = (name: string, spec: object = {}, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...more },
  spec: {
    schedulerName: "nobody",
    automountServiceAccountToken: false,
    containers: [container()],
    ...spec,
  },
});

/** A StatefulSet that wants no pods. */
export const statefulSet = (name: string, spec: object = {}): object => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name },
  spec: {
    replicas: 0,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container()] } },
    ...spec,
  },
});

export const service = (name: string, spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});

/** A widget: custom resource with status. */
export const widget = (name: string, spec: object = {}, more: object = {}): object => ({
  apiVersion: WIDGETS,
  kind: "Widget",
  metadata: { name, ...more },
  spec: { size: 1, ...spec },
});

/** A plain: custom resource without subresources. */
export const plain = (name: string, body: object = {}): object => ({
  apiVersion: WIDGETS,
  kind: "Plain",
  metadata: { name },
  ...body,
});

export interface CrdOptions {
  plural: string;
  kind: string;
  group?: string;
  schema: object;
  version?: object;
  spec?: object;
}

/** A CRD of one version. */
export function crd({ plural, kind, group = GROUP, schema, version = {}, spec = {} }: CrdOptions): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
      ...spec,
    },
  };
}

const string = { type: "string" };
const integer = { type: "integer" };

const WIDGET_SPEC = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 1, maximum: 100 },
    ratio: { type: "number" },
    text: { ...string, minLength: 2, maxLength: 5 },
    code: { ...string, pattern: "^[a-z]+$" },
    color: { ...string, enum: ["red", "green"], default: "red" },
    when: { ...string, format: "date-time" },
    port: { "x-kubernetes-int-or-string": true },
    flag: { type: "boolean" },
    maybe: { ...string, nullable: true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    labels: { type: "object", additionalProperties: string },
    nested: {
      type: "object",
      default: {},
      properties: { level: { ...integer, default: 3 }, name: string },
    },
    names: { type: "array", items: string, "x-kubernetes-list-type": "set" },
    atoms: { type: "array", items: string, maxItems: 3 },
    parts: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: string, value: integer, note: { ...string, default: "none" } },
      },
    },
    pod: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
    low: integer,
    high: integer,
    fixed: {
      ...string,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }],
    },
  },
  "x-kubernetes-validations": [
    {
      rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
      message: "low must not exceed high",
    },
  ],
};

const WIDGET = crd({
  plural: "widgets",
  kind: "Widget",
  schema: {
    type: "object",
    required: ["spec"],
    properties: {
      spec: WIDGET_SPEC,
      status: {
        type: "object",
        properties: { replicas: integer, selector: string, phase: string, observed: integer },
      },
    },
  },
  version: {
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.size",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
    selectableFields: [{ jsonPath: ".spec.color" }],
    additionalPrinterColumns: [
      { name: "Size", type: "integer", jsonPath: ".spec.size" },
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
    ],
  },
  spec: {
    names: {
      plural: "widgets",
      singular: "widget",
      kind: "Widget",
      listKind: "WidgetList",
      shortNames: ["wd"],
      categories: ["all"],
    },
  },
});

const PLAIN = crd({
  plural: "plains",
  kind: "Plain",
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  },
});

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POLL_MS = 25;
const LIMIT_MS = 30_000;

/** Waits until the server lists a resource in discovery and serves it. */
export async function untilServed(client: TestClient, groupVersion: string, plural: string): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await client.request<{ resources?: { name: string }[] }>("GET", `/apis/${groupVersion}`);
    const listed = found.code === 200 && found.body.resources?.some(({ name }) => name === plural);
    if (listed && (await client.request("GET", `/apis/${groupVersion}/${plural}`)).code === 200) return;
    if (Date.now() > deadline) throw new Error(`${plural}.${groupVersion} is not served`);
    await sleep(POLL_MS);
  }
}

/** Installs the CRDs of the suite. */
export async function installFixtures(client: TestClient): Promise<void> {
  for (const definition of [WIDGET, PLAIN]) {
    const answer = await client.request<{ message?: string }>("POST", CRDS, definition);
    if (answer.code !== 201 && answer.code !== 409) throw new Error(answer.body.message);
  }
  await untilServed(client, WIDGETS, "widgets");
  await untilServed(client, WIDGETS, "plains");
}
