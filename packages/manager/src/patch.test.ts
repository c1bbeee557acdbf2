import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { patchText } from "./patch.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "quartet-patch-"));
});
afterEach(() => rm(folder, { recursive: true }));

const env = (...values: [string, string][]) => ({
  spec: { containers: [{ name: "main", env: values.map(([name, value]) => ({ name, value })) }] },
});
const daemonSet = (patches: object[]) => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: { containers: [{ name: "main", image: "agent:1", env: [{ name: "A", value: "0" }] }] },
    },
    patches,
  },
});
async function preview(content: unknown, ...labels: string[]): Promise<string> {
  const file = join(folder, "set.yaml");
  await writeFile(file, typeof content === "string" ? content : stringify(content));
  return patchText(["--daemonset", file, ...labels.flatMap((text) => ["--node-labels", text])]);
}

it("DSP-505 DSP-506 prints the template of a node, and which patch set what in which order", async () => {
  const patches = [
    { selector: { matchLabels: { size: "large" } }, priority: 10, patch: env(["A", "1"]) },
    { selector: {}, patch: env(["A", "2"], ["B", "x"]) },
    { selector: { matchLabels: { size: "small" } }, patch: env(["A", "3"]) },
  ];
  const text = await preview(daemonSet(patches), "zone=a,size=large");
  const comments = text.split("\n").filter((line) => line.startsWith("#"));
  expect(comments).toEqual([
    "# patches[1] (priority 0) sets",
    '#   spec.containers[main].env[A].value: "0" -> "2"',
    '#   spec.containers[main].env[B]: {"name":"B","value":"x"}',
    "# patches[0] (priority 10) sets",
    '#   spec.containers[main].env[A].value: "2" -> "1"',
    "# not selected: patches[2]",
    expect.stringContaining("# warning: spec.patches[1].selector: matches every node"),
    expect.stringContaining("# warning: spec.patches: items 1 and 2 of one priority set"),
  ]);
  expect(parse(text).spec.containers[0].env).toEqual(
    expect.arrayContaining([
      { name: "A", value: "1" },
      { name: "B", value: "x" },
    ]),
  );
});

it("DSP-344 DSP-211 reads the annotation where there is no field, and names what is wrong at its place", async () => {
  const annotation = JSON.stringify([{ selector: {}, patch: { spec: { hostNetwrk: true } } }]);
  const { spec, metadata, ...rest } = daemonSet([]);
  const annotations = { "daemonset.kruise.io/patches": annotation };
  await expect(preview({ ...rest, metadata: { ...metadata, annotations }, spec })).rejects.toThrow(
    /metadata\.annotations\[daemonset\.kruise\.io\/patches\]\[0\]\.patch\.spec\.hostNetwrk: unknown field/,
  );
});

it.each([
  ["a: [", /no YAML/],
  ["", /kind: is undefined|is empty/],
  ["kind: Pod", /kind: is "Pod"; give a file with one DaemonSet/],
  ["kind: DaemonSet\nspec: {}", /spec\.template: must be an object/],
])("tells what is wrong with the file %j", async (text, message) => {
  await expect(preview(text)).rejects.toThrow(message);
});

it("tells what is wrong with the call", async () => {
  await expect(patchText([])).rejects.toThrow(/--daemonset is needed\nusage: quartet patch/);
  await expect(patchText(["--daemonset", "/none"])).rejects.toThrow(/cannot read \/none/);
  await expect(preview(daemonSet([]), "size")).rejects.toThrow(/"size" is no key=value/);
});
