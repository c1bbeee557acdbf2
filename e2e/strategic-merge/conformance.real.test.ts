/** The engine beside `kubectl`, and its table beside the documents of a running API server. */
import { execFileSync } from "node:child_process";
import {
  BUILT_IN,
  type Json,
  type JsonMap,
  type OpenApiDocument,
  readTypes,
  strategicMerge,
} from "@quartet/strategic-merge";
import { attachControlPlane, ensureAssets, testClient } from "@quartet/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { objects, patches, TELLING_FIELDS } from "../../packages/strategic-merge/test/arbitraries.ts";

const TYPE = "PodTemplateSpec";
const DRAWING = { fields: TELLING_FIELDS, wild: false };
const PATCHES = 80;
const TEMPLATES_PER_PATCH = 20;
/** Fixed, so that a failure comes back. */
const SEED = 1;
const DELETE_FROM = "$deleteFromPrimitiveList/";

/** What came of a patch: the template, or that it was refused. */
type Outcome = JsonMap | "refused";

describe("kubectl patch --local", () => {
  let kubectl: string;
  beforeAll(async () => {
    kubectl = (await ensureAssets({ need: ["kubectl"] })).programs.kubectl!;
  });

  it("DSP-433 agrees with the engine on at least 1000 pairs of template and patch", () => {
    const drawn = fc
      .sample(patches(TYPE, DRAWING), { numRuns: PATCHES * 3, seed: SEED })
      .filter((patch) => !isRandomThere(patch))
      .slice(0, PATCHES);
    const templates = fc.sample(objects(TYPE, DRAWING), {
      numRuns: drawn.length * TEMPLATES_PER_PATCH,
      seed: SEED,
    });
    let merged = 0;
    let refused = 0;
    for (const [index, patch] of drawn.entries()) {
      const batch = templates.slice(index * TEMPLATES_PER_PATCH, (index + 1) * TEMPLATES_PER_PATCH);
      const expected = patchedAll(kubectl, batch, patch);
      for (const [position, template] of batch.entries()) {
        const actual = patched(template, patch);
        expect({ template, patch, outcome: actual }).toEqual({
          template,
          patch,
          outcome: expected[position],
        });
        if (actual === "refused") refused += 1;
        else merged += 1;
      }
    }
    expect(merged + refused).toBeGreaterThanOrEqual(1000);
    expect(merged).toBeGreaterThan(700);
    expect(refused).toBeGreaterThan(20);
  });
});

describe("a running API server", () => {
  async function documentAt(path: string): Promise<OpenApiDocument> {
    const client = testClient(await attachControlPlane(inject("controlPlane")).kubeconfig());
    try {
      return await client.ok<OpenApiDocument>("GET", path);
    } finally {
      client.close();
    }
  }

  it("DSP-401 DSP-405 serves an OpenAPI v3 document that yields the built-in types of pod templates", async () => {
    const { types } = readTypes(await documentAt("/openapi/v3/api/v1"), [`io.k8s.api.core.v1.${TYPE}`]);
    expect(types.size).toBeGreaterThan(80);
    for (const [name, fields] of types) expect([name, BUILT_IN.types.get(name)]).toEqual([name, fields]);
  });

  it("DSP-405 serves an OpenAPI v2 document that yields the built-in kinds and their types", async () => {
    const live = readTypes(await documentAt("/openapi/v2"));
    const known = [...live.kinds].filter(([kind]) => BUILT_IN.kinds.has(kind));
    expect(known.length).toBeGreaterThan(50);
    for (const [kind, type] of known) expect([kind, BUILT_IN.kinds.get(kind)]).toEqual([kind, type]);
    const shared = [...live.types].filter(([name]) => BUILT_IN.types.has(name));
    expect(shared.length).toBeGreaterThan(500);
    for (const [name, fields] of shared) expect([name, BUILT_IN.types.get(name)]).toEqual([name, fields]);
  });
});

function patched(template: JsonMap, patch: JsonMap): Outcome {
  try {
    return strategicMerge(TYPE, template, patch);
  } catch {
    return "refused";
  }
}

/** Outcomes of one patch over many templates; one by one when the program refuses any of them. */
function patchedAll(kubectl: string, templates: readonly JsonMap[], patch: JsonMap): Outcome[] {
  try {
    return run(kubectl, templates, patch);
  } catch {
    if (templates.length === 1) return ["refused"];
    return templates.flatMap((template) => patchedAll(kubectl, [template], patch));
  }
}

function run(kubectl: string, templates: readonly JsonMap[], patch: JsonMap): Outcome[] {
  const items = templates.map((template, index) => ({
    apiVersion: "v1",
    kind: "PodTemplate",
    metadata: { name: `t${index}` },
    template,
  }));
  const args = [
    "patch",
    "--local",
    "--type=strategic",
    "-o=json",
    "-f=-",
    `-p=${JSON.stringify({ template: patch })}`,
  ];
  const output = execFileSync(kubectl, args, {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
  });
  const objects = JSON.parse(`[${output.trim().split("\n}\n").join("\n},\n")}]`) as { template?: JsonMap }[];
  // What typed decoding would remove is removed on both sides.
  return objects.map(({ template = {} }) => strategicMerge(TYPE, template, {}));
}

/** Whether the original answers at random: a list that a map both sets and deletes from. */
function isRandomThere(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(isRandomThere);
  return Object.entries(value).some(
    ([key, member]) =>
      (key.startsWith(DELETE_FROM) && Object.hasOwn(value, key.slice(DELETE_FROM.length))) ||
      isRandomThere(member),
  );
}
