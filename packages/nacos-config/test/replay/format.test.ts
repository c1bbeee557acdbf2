import { expect, it } from "vitest";
import { readAdoptions, readCases } from "./format.ts";

const NACOS = { apiVersion: "nacos.io/v1alpha1", kind: "Nacos", metadata: { name: "demo" } };
const GOOD = { name: "good", steps: [{ op: "apply", object: NACOS }], expect: { children: [], trace: [] } };

const line = (change: object): string => JSON.stringify({ ...GOOD, ...change });

it("reads cases with their place; what may be left out reads as empty", () => {
  expect(readCases(`${line({})}\n\n${line({ differs: ["D12"] })}\n`, "f.jsonl")).toMatchObject([
    { at: "f.jsonl:1", name: "good", differs: [], rules: [] },
    { at: "f.jsonl:3", differs: ["D12"] },
  ]);
});

it.each([
  ["{", /^f:1: not JSON \(.*\); write one complete JSON object a line$/],
  ["[1]", "f:1: not a JSON object; write one complete JSON object a line"],
  [line({ name: undefined }), "f:1: name: is missing; give a text that is not empty"],
  [line({ steps: [] }), "f:1: steps: is empty; give the steps in the order in which they are taken"],
  [line({ steps: ["x"] }), 'f:1: steps[0]: cannot be "x"; give a JSON object'],
  [
    line({ steps: [{ op: "scale", object: NACOS }] }),
    'f:1: steps[0].op: cannot be "scale"; known are apply, merge, delete',
  ],
  [
    line({ steps: [{ op: "apply", object: { ...NACOS, metadata: {} } }] }),
    "f:1: steps[0].object.metadata.name: is missing; give a text that is not empty",
  ],
  [
    line({ steps: [{ op: "apply", object: { ...NACOS, kind: "Pod" } }] }),
    "f:1: steps: has no object of kind Nacos; apply the resource that the case is about",
  ],
  [
    line({ expect: { children: [] } }),
    "f:1: expect.trace: is missing; give a list: the state at rest after the steps, may be empty",
  ],
  [
    line({ expect: { children: [], trace: [{ afterStep: 1 }] } }),
    "f:1: expect.trace[0].afterStep: cannot be 1; give the number of a step, 0 to 0",
  ],
  [line({ differs: "D12" }), 'f:1: differs: cannot be "D12"; give a list of texts, or leave it out'],
])("tells of a bad line with place, field and remedy: %s", (text, message) => {
  expect(() => readCases(text, "f")).toThrow(message);
});

it("tells of all bad lines at once", () => {
  expect(() => readCases(`1\n${line({})}\n2`, "f")).toThrow(/^f:1: .*\nf:3: .*$/);
});

it("reads adoptions", () => {
  const set = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "demo" } };
  const row = { name: "x", resource: NACOS, sources: [], statefulSet: set, otherChildren: [] };
  const text = JSON.stringify({ ...row, expect: { templateChanged: false } });
  expect(readAdoptions(text, "f")).toMatchObject([{ at: "f:1", statefulSet: set }]);
  expect(() => readAdoptions(JSON.stringify({ ...row, expect: {} }), "f")).toThrow(
    "f:1: expect.templateChanged: is missing; give true or false",
  );
});
