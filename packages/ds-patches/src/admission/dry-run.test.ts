import { ApiError, ConnectionError, type KubeObject, type WriteOptions } from "@quartet/core";
import { describe, expect, it } from "vitest";
import type { NodePatch, PodTemplate } from "../api.ts";
import type { DaemonSet } from "../kinds.ts";
import { createJudge, type Judge } from "./dry-run.ts";
import { review } from "./review.ts";

type Template = PodTemplate;
/** What the server says of a template; nothing for a valid one. */
type Server = (template: Template, options: WriteOptions) => unknown;

const CIRCUMSTANCES = { mode: "owner", patchesEnabled: true } as const;

const error = (code: number, message: string, causes: object[] = []): ApiError =>
  new ApiError({
    code,
    reason: "",
    message,
    details: { causes },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "POST",
    path: "",
  });
function judgeOf(server: Server): { judge: Judge; asked: Template[] } {
  const asked: Template[] = [];
  const create = async <T extends KubeObject>(_kind: unknown, object: T, options: WriteOptions = {}) => {
    const { template } = object as unknown as { template: Template };
    asked.push(template);
    const refusal = server(template, options);
    if (refusal !== undefined) throw refusal;
    return object;
  };
  const judge = createJudge({ client: { create }, namespace: "t", signal: new AbortController().signal });
  return { judge, asked };
}
const daemonSet = (template: object, patches: NodePatch[] = []): DaemonSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t" },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: template as never },
    ...(patches.length > 0 && { patches }),
  },
});
const image = (value: unknown) => ({ containers: [{ name: "main", image: value }] });
const patch = (body: object, priority = 0): NodePatch => ({
  selector: { matchLabels: { a: "b" } },
  patch: body as never,
  priority,
});
const told = async (server: Server, object: DaemonSet, old?: DaemonSet) =>
  review(object, old, { ...CIRCUMSTANCES, judge: judgeOf(server).judge });

describe("dry run of templates", () => {
  it("DSP-319 DSP-321 gives all causes of a 422 with their reasons, at the fields of the DaemonSet, ordered", async () => {
    const causes = [
      { reason: "FieldValueRequired", message: "Required value", field: "template.spec.containers[0].image" },
      { reason: "FieldValueInvalid", message: 'Invalid value: "a b"', field: "template.labels" },
    ];
    const { violations } = await told(() => error(422, "invalid", causes), daemonSet(image("")));
    expect(violations).toEqual([
      { path: "spec.template.metadata.labels", message: 'Invalid value: "a b"', reason: "FieldValueInvalid" },
      {
        path: "spec.template.spec.containers[0].image",
        message: "Required value",
        reason: "FieldValueRequired",
      },
    ]);
  });

  it("DSP-319 DSP-345 what cannot be decoded is told at its place, all of it", async () => {
    const message =
      'PodTemplate in version "v1" cannot be handled as a PodTemplate: json: cannot unmarshal number into Go struct field Container.template.spec.containers.image of type string';
    const object = daemonSet({ ...image(5), hostNetwrk: true });
    const { violations } = await told(() => error(400, message), object);
    expect(violations.map(({ path }) => path)).toEqual([
      "spec.template.spec.containers[0].image",
      "spec.template.spec.hostNetwrk",
    ]);
    expect(violations[1]?.message).toContain("did you mean hostNetwork?");
  });

  it("DSP-319 of a field that the own table has and the server does not, the server's word counts", async () => {
    const message =
      'PodTemplate in version "v1" cannot be handled as a PodTemplate: strict decoding error: unknown field "template.spec.newer", duplicate field "template.spec.a"';
    const { violations } = await told(() => error(400, message), daemonSet(image("a")));
    expect(violations).toEqual([
      { path: "spec.template.spec.a", message: "duplicate field" },
      { path: "spec.template.spec.newer", message: "unknown field" },
    ]);
  });

  it.each([
    ["forbidden", () => error(403, "podtemplates is forbidden")],
    ["a full quota, a namespace that is gone, a name that exists", () => error(409, "exists")],
    ["the server's own fault", () => error(500, "oops")],
    ["no answer", () => new ConnectionError({ code: "ETIMEDOUT", message: "no", method: "POST", path: "/" })],
  ])("DSP-320 %s is no verdict: local checks decide, with a warning", async (_case, refusal) => {
    const { violations, warnings } = await told(refusal, daemonSet({ ...image(5), hostNetwrk: true }));
    expect(violations.map(({ path }) => path)).toEqual(["spec.template.spec.containers[0].image"]);
    expect(warnings.join()).toContain("full validation was skipped");
    expect(warnings.join()).toContain("spec.template.spec.hostNetwrk: unknown field");
  });

  it("DSP-320 asks for 2 s, strictly, and stores nothing", async () => {
    const seen: WriteOptions[] = [];
    await told((_template, options) => void seen.push(options), daemonSet(image("a")));
    expect(seen).toMatchObject([{ dryRun: true, fieldValidation: "Strict", timeoutMs: 2_000 }]);
  });

  it("DSP-324 passes on the server's warnings, and refuses what only the pod's creation would", async () => {
    const object = daemonSet(image("a"));
    object.spec.template.metadata = { labels: { app: "a" }, name: "x", finalizers: ["bad"] };
    const { violations, warnings } = await told((_template, { onWarning }) => {
      onWarning?.('template.spec.containers[0].env[1]: hides previous definition of "A"');
    }, object);
    expect(violations.map(({ path }) => path)).toEqual(["spec.template.metadata.finalizers[0]"]);
    expect(warnings).toContain('spec.template.spec.containers[0].env[1]: hides previous definition of "A"');
    expect(warnings).toContain("spec.template.metadata.name: has no effect on the pods");
  });

  it("DSP-330 an update that changes neither template nor patches asks nothing", async () => {
    const object = daemonSet(image("a"));
    const { judge, asked } = judgeOf(() => error(422, "no"));
    const { violations } = await review(object, structuredClone(object), { ...CIRCUMSTANCES, judge });
    expect([violations, asked]).toEqual([[], []]);
  });

  it("DSP-366 a patch is refused that is wrong alone and on top of those before it, at its own path", async () => {
    const cause = [{ reason: "FieldValueInvalid", message: "too long", field: "template.spec.hostname" }];
    const server: Server = ({ spec }) =>
      spec?.hostname === "bad" ? error(422, "invalid", cause) : undefined;
    const object = daemonSet(image("a"), [patch({ spec: { hostname: "bad" } })]);
    expect((await told(server, object)).violations).toEqual([
      { path: "spec.patches[0].patch.spec.hostname", message: "too long", reason: "FieldValueInvalid" },
    ]);
  });

  it("DSP-366 one that works on top of another is accepted, DSP-367 and all together failing is a warning", async () => {
    const causes = [{ reason: "FieldValueInvalid", message: "needs a", field: "template.spec.hostname" }];
    const needs: Server = ({ spec }) =>
      spec?.hostname !== undefined && spec.subdomain === undefined ? error(422, "x", causes) : undefined;
    const patches = [patch({ spec: { hostname: "h" } }, 1), patch({ spec: { subdomain: "s" } })];
    expect((await told(needs, daemonSet(image("a"), patches))).violations).toEqual([]);
    const both: Server = ({ spec }) =>
      spec?.hostname !== undefined && spec.subdomain !== undefined ? error(422, "x", causes) : undefined;
    const { violations, warnings } = await told(both, daemonSet(image("a"), patches));
    expect(violations).toEqual([]);
    expect(warnings.join()).toContain("a node that all patches match would get no pod");
  });

  it("DSP-331 while the feature gate is off patches are judged all the same, and a warning says that they are ignored", async () => {
    const { judge } = judgeOf(() => undefined);
    const off = { mode: "owner", patchesEnabled: false, judge } as const;
    const { violations } = await review(
      daemonSet(image("a"), [patch({ spec: { nodeName: "n" } })]),
      undefined,
      off,
    );
    expect(violations.map(({ path }) => path)).toEqual(["spec.patches[0].patch.spec.nodeName"]);
    const sound = await review(daemonSet(image("a"), [patch({ spec: { hostname: "h" } })]), undefined, off);
    expect(sound).toEqual({
      violations: [],
      warnings: ["spec.patches: ignored while the feature gate AdvancedDaemonSetNodeLabelPatches is off"],
    });
    expect((await review(daemonSet(image("a")), undefined, off)).warnings).toEqual([]);
  });
});
