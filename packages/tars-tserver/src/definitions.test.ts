/** The definitions of the kinds as files, and what the chart makes of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = new URL("../../../", import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), "utf8");
const names = readdirSync(new URL("crds/", root)).filter((name) => name.startsWith("k8s.tars.io_"));
const crds = names.map((name) => ({
  name,
  text: textOf(`crds/${name}`),
  chart: textOf(`charts/quartet/templates/crds/${name}`),
}));

describe("definitions", () => {
  it("TARS-CRD-001 there is one for each kind, in version v1 of their own API", () => {
    expect(names).toHaveLength(10);
    for (const { text } of crds) expect(text).toMatch(/^apiVersion: apiextensions.k8s.io\/v1$/m);
  });

  it("TARS-CRD-003 are without conversion; TARS-CRD-002 the chart adds it where versions differ", () => {
    expect(crds.filter(({ text }) => /^\s*conversion:/m.test(text))).toEqual([]);
    const converted = crds.filter(({ chart }) => chart.includes("quartet.crdConversion"));
    expect(converted.map(({ name }) => name)).toEqual([
      "k8s.tars.io_tframeworkconfigs.yaml",
      "k8s.tars.io_tservers.yaml",
    ]);
  });

  it("TARS-CRD-004 have modes in decimal", () => {
    for (const { text } of crds) expect(text).not.toMatch(/(?:default|maximum): 0[0-7]/);
  });

  it("TARS-CRD-005 name Han characters as the API server reads it", () => {
    for (const { text } of crds) expect(text).not.toContain("Script=Han");
    expect(crds.filter(({ text }) => text.includes("\\p{Han}")).map(({ name }) => name)).toEqual([
      "k8s.tars.io_taccounts.yaml",
      "k8s.tars.io_ttrees.yaml",
    ]);
  });

  it("TARS-CRD-007 stay when the chart goes", () => {
    for (const { chart } of crds) expect(chart).toContain('include "quartet.crdAnnotations"');
    expect(textOf("charts/quartet/templates/_helpers.tpl")).toContain('"helm.sh/resource-policy" "keep"');
  });
});

it("TARS-LV-012 the StorageClass of local volumes waits for the pod", () => {
  const [storageClass] = textOf("samples/tars/agent.yaml")
    .split("---\n")
    .filter((text) => text.includes("StorageClass"));
  expect(storageClass).toContain("name: tars-storage-class");
  expect(storageClass).toContain("provisioner: kubernetes.io/no-provisioner");
  expect(storageClass).toContain("reclaimPolicy: Delete");
  expect(storageClass).toContain("volumeBindingMode: WaitForFirstConsumer");
});

it("TARS-X-006 chart, definitions and samples come without a key: each install makes its own", () => {
  for (const folder of ["charts/", "crds/", "samples/"]) {
    const files = readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true });
    const texts = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(texts.length).toBeGreaterThan(0);
    for (const path of texts) {
      expect(readFileSync(path, "utf8"), path).not.toMatch(/-----BEGIN [A-Z ]*-----|caBundle: *\w{20}/);
    }
  }
});
