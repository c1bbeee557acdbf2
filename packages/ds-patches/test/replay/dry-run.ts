/** Recorded verdicts of the API server about pod templates, played against the admission of a DaemonSet (DSP-319, 324). */
import { ApiError, type KubeObject, type WriteOptions } from "@quartet/core";
import type { TestClient } from "@quartet/testing";
import { createJudge } from "../../src/admission/dry-run.ts";
import { review } from "../../src/admission/review.ts";
import type { PodTemplate } from "../../src/api.ts";
import type { DaemonSet } from "../../src/kinds.ts";

export interface DryRunCase {
  readonly name: string;
  readonly template?: PodTemplate;
  /** The whole PodTemplate as it was sent, where it is no plain JSON. */
  readonly text?: string;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly { reason: string; message: string; field: string }[];
  /** `Warning` header. */
  readonly warning?: string;
}

/** What admission made of the template. */
export interface Admission {
  readonly violations: readonly { readonly path: string; readonly message: string }[];
  readonly warnings: readonly string[];
}

/** Plays a case with the recorded answer in the place of a server. */
export async function playDryRunCase(row: DryRunCase): Promise<string | undefined> {
  const client = {
    async create<T extends KubeObject>(_kind: unknown, object: T, { onWarning }: WriteOptions = {}) {
      for (const text of warningsOf(row)) onWarning?.(text);
      if (row.code === 201) return object;
      throw new ApiError({
        code: row.code,
        reason: row.reason ?? "",
        message: row.message ?? "",
        details: { causes: row.causes ?? [] },
        retryAfterSeconds: undefined,
        continueToken: undefined,
        method: "POST",
        path: "",
      });
    },
  };
  const judge = createJudge({ client, namespace: "t", signal: new AbortController().signal });
  const daemonSet = JSON.parse(dryRunBody(row)) as DaemonSet;
  daemonSet.metadata.namespace = "t";
  return dryRunDifference(
    row,
    await review(daemonSet, undefined, { mode: "owner", patchesEnabled: true, judge }),
  );
}

interface Status {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { message?: string; field?: string }[] };
}

/** Plays a case against an API server that asks our webhooks: a dry run of the DaemonSet. */
export async function sendDryRunCase(client: TestClient, row: DryRunCase): Promise<string | undefined> {
  const path = "/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets?dryRun=All&fieldValidation=Strict";
  const { code, body, headers } = await client.request<Status>("POST", path, dryRunBody(row));
  const { message = "", details } = body;
  const violations =
    code === 422
      ? (details?.causes ?? []).map((cause) => ({ path: cause.field ?? "", message: cause.message ?? "" }))
      : [...message.matchAll(/(\w+ field) "((?:[^"\\]|\\.)*)"/g)].map(([, kind = "", field = ""]) => ({
          path: field,
          message: kind,
        }));
  if (code !== 201 && violations.length === 0) return `answered ${code}: ${message}`;
  return dryRunDifference(row, {
    violations,
    warnings: warningsOf({ warning: String(headers.warning ?? "") }),
  });
}

/** A DaemonSet with the template of a case, as JSON text in which it stands as it was recorded. */
export function dryRunBody({ template, text }: DryRunCase): string {
  const recorded = text === undefined ? JSON.stringify(template) : templateText(text);
  const metadata = { name: "probe" };
  const selector = { matchLabels: selectedLabels(JSON.parse(recorded) as PodTemplate) };
  const head = JSON.stringify({ apiVersion: "apps.kruise.io/v1beta1", kind: "DaemonSet", metadata });
  return `${head.slice(0, -1)},"spec":{"selector":${JSON.stringify(selector)},"template":${recorded}}}`;
}

/** Labels by which the DaemonSet finds its pods; where the template has none, one that it lacks. */
function selectedLabels({ metadata }: PodTemplate): object {
  const labels = Object.entries((metadata?.labels ?? {}) as Record<string, unknown>);
  const [first] = labels.filter(([, value]) => typeof value === "string" && /^\w+$/.test(value));
  return first === undefined ? { app: "x" } : { [first[0]]: first[1] };
}

/** The member `template` of the text, which is its last one. */
function templateText(text: string): string {
  const start = text.indexOf('"template":') + '"template":'.length;
  return text.slice(start, text.lastIndexOf("}"));
}

function warningsOf({ warning = "" }: Pick<DryRunCase, "warning">): string[] {
  return [...warning.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll(/\\(.)/g, "$1"),
  );
}

/** Paths at which admission refuses what the API server lets pass (DSP-303 to 306, 324). */
const LOCAL =
  /^spec\.template\.(metadata\.(labels|finalizers)|spec\.(restartPolicy|activeDeadlineSeconds|ephemeralContainers))/;

/** What of the admission differs from the recorded verdict; nothing when it is the same. */
export function dryRunDifference(row: DryRunCase, { violations, warnings }: Admission): string | undefined {
  const told = violations.map(({ path, message }) => `${path}: ${message}`);
  const missing = expectedOf(row).filter(
    ({ path, message }) =>
      !violations.some((one) => path.test(one.path) && one.message.includes(message)) &&
      !warnings.some((text) => path.source === "" && text.includes(message)),
  );
  if (missing.length > 0) {
    const wanted = missing.map(({ path, message }) => `${path.source}: ${message}`).join("; ");
    return `expected ${wanted}\n  got      ${[...told, ...warnings].join("; ") || "nothing"}`;
  }
  const unexpected = row.code === 201 ? violations.filter(({ path }) => !LOCAL.test(path)) : [];
  if (unexpected.length > 0) return `expected no refusal\n  got      ${told.join("; ")}`;
  const silent = warningsOf(row).filter((text) => !warnings.some((one) => one.includes(inTemplate(text))));
  return silent.length === 0
    ? undefined
    : `expected the warning ${inTemplate(silent[0]!)}\n  got      ${warnings.join("; ") || "none"}`;
}

interface Expected {
  /** Of the violation's path. */
  readonly path: RegExp;
  readonly message: string;
}

function expectedOf({ code, causes = [], message = "" }: DryRunCase): Expected[] {
  if (code === 422) {
    return causes.map((cause) => ({
      path: exactly(inSpec(cause.field)),
      message: inTemplate(cause.message),
    }));
  }
  if (code !== 400) return [];
  const fields = [...message.matchAll(/(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g)];
  if (fields.length > 0) {
    return fields.map(([, kind = "", field = ""]) => ({
      path: exactly(inSpec(field)),
      message: `${kind} field`,
    }));
  }
  const typed = /Go struct field \w+\.(template\S*) of type/.exec(message);
  // The recorded path has no indexes and keys of maps, the violation's has.
  return typed === null
    ? [{ path: /^spec\.template\./, message: "quantit" }]
    : [{ path: loosely(inSpec(typed[1]!)), message: "must be" }];
}

const escaped = (text: string): string => text.replaceAll(/[.[\]{}$/()*+?|^\\]/g, "\\$&");
const exactly = (path: string): RegExp => new RegExp(`^${escaped(path)}$`);
const loosely = (path: string): RegExp =>
  new RegExp(`^${path.split(".").map(escaped).join("(?:\\[\\d+\\])?\\.")}`);

/** The path of the DaemonSet for one of the PodTemplate, in whatever text it stands. */
function inSpec(text: string): string {
  return text
    .replaceAll(/\btemplate\.(labels|annotations)\b/g, "template.metadata.$1")
    .replaceAll(/\btemplate\b(?=[.:]|$)/g, "spec.template");
}

/** Messages speak of the template alone. */
function inTemplate(text: string): string {
  return text.replaceAll(/\btemplate\.(?=spec\b|metadata\b|labels\b|annotations\b)/g, "");
}
