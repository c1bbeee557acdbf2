import {
  describe as describeDifference,
  differences,
  type Json,
  type RecordedObject,
} from "@quartet/testing/replay";
import { expect, it } from "vitest";
import { unexcused } from "./decisions.ts";
import { normalChild } from "./normal.ts";
import { isLeftover, productForm } from "./product-form.ts";

const statefulSet = (container: Json, spec: Json = {}): RecordedObject => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "demo" },
  spec: { ...spec, template: { spec: { containers: [{ name: "demo", image: "a:1", ...container }] } } },
});

const compare = (expected: RecordedObject, actual: RecordedObject): string[] =>
  differences(normalChild(expected), normalChild(actual), "StatefulSet/demo ").map(({ path }) => path);

it("takes what the API server fills in, the order of variables, and units as equal", () => {
  const sent = statefulSet({
    env: [{ name: "B", value: "2" }, { name: "A" }],
    resources: { limits: { memory: "1024Mi" } },
  });
  const stored = statefulSet(
    {
      env: [
        { name: "A", value: "" },
        { name: "B", value: "2" },
      ],
      resources: { limits: { memory: "1Gi" } },
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
    },
    { revisionHistoryLimit: 10, serviceName: "" },
  );
  expect(compare(sent, stored)).toEqual([]);
});

it("tells of every other difference by its path", () => {
  const one = statefulSet({ env: [{ name: "A", value: "1" }], command: ["a"] });
  const other = statefulSet({
    env: [{ name: "A", value: "2" }, { name: "B" }],
    command: ["b"],
    image: "a:2",
  });
  const container = "StatefulSet/demo spec.template.spec.containers[demo]";
  expect(compare(one, other).sort()).toEqual([
    `${container}.command`,
    `${container}.env[A].value`,
    `${container}.env[B]`,
    `${container}.image`,
  ]);
});

it("compares the data of maps byte by byte", () => {
  const map = (text: string): RecordedObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "final" },
    data: { "application.properties": text },
  });
  const [found] = differences(normalChild(map("a=1\n")), normalChild(map("a=1\r\n")), "ConfigMap/final ");
  expect(describeDifference(found!)).toBe(
    'ConfigMap/final data[application.properties]\n  expected "a=1\\n"\n  found    "a=1\\r\\n"',
  );
});

it("the product's form of a peer's object is the product's own already", () => {
  const nacos = {
    apiVersion: "nacos.io/v1alpha1",
    kind: "Nacos",
    metadata: { name: "demo" },
    spec: { image: "a:3.0" },
  };
  const steps = [{ op: "apply" as const, object: nacos }];
  const service = (name: string): RecordedObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type: "NodePort", publishNotReadyAddresses: true, ports: [{ name: "client", port: 8848 }] },
  });
  for (const object of [statefulSet({ image: "a:3.0" }), service("demo-client"), service("demo-headless")]) {
    const once = productForm(object, steps);
    expect(once).not.toEqual(object);
    expect(productForm(once, steps)).toEqual(once);
  }
});

it("NACOS-502 NACOS-505 NACOS-508 the product's form of a Service keeps edits by hand of what it does not own", () => {
  const own = {
    apiVersion: "nacos.io/v1alpha1",
    kind: "Nacos",
    metadata: { name: "demo" },
    spec: { image: "a:2.4" },
  };
  const edit = {
    metadata: { labels: { app: "mine", more: "x" }, annotations: { a: "b" } },
    spec: {
      type: "LoadBalancer",
      publishNotReadyAddresses: true,
      selector: {},
      ports: [{ name: "other", port: 1 }],
    },
  };
  const formOf = (name: string, spec: Json): Json => {
    const service: RecordedObject = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, labels: { app: "demo" } },
      spec,
    };
    const hand = { ...service, metadata: { ...edit.metadata, name }, spec: edit.spec };
    return productForm(service, [
      { op: "apply", object: own },
      { op: "merge", object: hand },
    ]);
  };
  const client = formOf("demo-client", { type: "NodePort", ports: [{ name: "client", port: 8848 }] });
  expect(client).toMatchObject({
    metadata: { labels: { app: "demo", more: "x" }, annotations: { a: "b" } },
    spec: { type: "LoadBalancer", publishNotReadyAddresses: true, ports: [{ name: "client" }] },
  });
  const headless = formOf("demo-headless", {
    clusterIP: "None",
    publishNotReadyAddresses: true,
    ports: [{ name: "rpc" }],
  });
  expect(headless.spec).toEqual({
    clusterIP: "None",
    publishNotReadyAddresses: true,
    ports: [{ name: "rpc" }],
  });
  const standalone = formOf("demo", {
    type: "LoadBalancer",
    selector: {},
    ports: [{ name: "other", port: 1 }],
  });
  expect(standalone).toMatchObject({
    metadata: { labels: { app: "demo", more: "x", middleware: "nacos", component: "nacos" } },
    spec: { type: "ClusterIP", publishNotReadyAddresses: true, selector: { app: "demo" } },
  });
  const { ports } = standalone.spec as { ports: Json[] };
  expect(ports.map(({ name }) => name)).toEqual(["client", "rpc", "new-rpc"]);
});

it("NACOS-340 NACOS-344 expects no generated map of an earlier configuration", () => {
  const at = (spec: Json): RecordedObject => ({
    apiVersion: "nacos.io/v1alpha1",
    kind: "Nacos",
    metadata: { name: "demo" },
    spec,
  });
  const map = (name: string, file: string): RecordedObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { [file]: "a=1" },
  });
  const merged = { userConfigRef: { name: "u" }, finalConfigName: "one" };
  const before = { op: "apply" as const, object: at({ ...merged, config: "a=1" }) };
  const patch = (spec: Json) => ({ op: "merge" as const, object: at(spec) });
  const left = (...changes: Json[]): boolean[] =>
    [map("one", "application.properties"), map("demo", "custom.properties"), map("u", "user.properties")].map(
      (child) => isLeftover(child, [before, ...changes.map((change) => patch(change))]),
    );
  expect(left()).toEqual([false, true, false]);
  expect(left({ finalConfigName: "two" })).toEqual([true, true, false]);
  expect(left({ userConfigRef: null })).toEqual([true, false, false]);
  expect(left({ userConfigRef: null }, { config: null })).toEqual([true, true, false]);
});

it("a decision excuses what it is about and nothing else", () => {
  const at = (path: string) => ({ path, expected: 1, actual: 2 });
  const env = at("StatefulSet/demo spec.template.spec.containers[demo].env[A].value");
  const digest = at("after step 2: digest");
  expect(unexcused([env, digest], ["NACOS-401", "NACOS-420"])).toEqual([digest]);
  expect(unexcused([env, digest], ["NACOS-401"])).toEqual([env, digest]);
  expect(unexcused([env, digest], ["NACOS-999"])).toEqual([]);
});
