/** Pod templates judged by the API server itself: a dry run of a PodTemplate (D18; DSP-319, 320, 324, 366, 367). */
import { ApiError, type Client, type KubeObject } from "@quartet/core";
import { POD_TEMPLATE } from "@quartet/core/kinds";
import type { PodTemplate } from "../api.ts";
import type { Violation } from "./verdict.ts";

/** What is read of the words of a refusal, in characters. */
const MAX_WORDS = 8_192;

/** Limits of one dry run and of all of an admission together, in milliseconds (DSP-320). */
const ONE_MS = 2_000;
const ALL_MS = 5_000;
/** Dry runs that are under way at once. */
const PARALLEL = 4;

/** What the API server says of a template; `undecided`: nothing, for the reason given. */
export type Judgement =
  | { readonly kind: "valid"; readonly warnings: readonly string[] }
  | {
      readonly kind: "invalid";
      readonly violations: readonly Violation[];
      readonly warnings: readonly string[];
    }
  | { readonly kind: "undecided"; readonly reason: string };

/** Judges a template; never rejects. Paths are those of the template, as `spec.containers[0].image`. */
export type Judge = (template: PodTemplate) => Promise<Judgement>;

export interface JudgeOptions {
  readonly client: Pick<Client, "create">;
  readonly namespace: string;
  /** Ends with the admission request. */
  readonly signal: AbortSignal;
}

/** A judge for one admission request; equal templates are asked about once. */
export function createJudge({ client, namespace, signal }: JudgeOptions): Judge {
  const until = AbortSignal.any([signal, AbortSignal.timeout(ALL_MS)]);
  const asked = new Map<string, Promise<Judgement>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  const ask = async (template: PodTemplate): Promise<Judgement> => {
    if (running >= PARALLEL) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await dryRun(client, namespace, template, until);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
  return (template) => {
    const text = JSON.stringify(template);
    const known = asked.get(text) ?? ask(template);
    asked.set(text, known);
    return known;
  };
}

async function dryRun(
  client: Pick<Client, "create">,
  namespace: string,
  template: PodTemplate,
  signal: AbortSignal,
): Promise<Judgement> {
  const warnings: string[] = [];
  const object: KubeObject & { template: PodTemplate } = {
    apiVersion: "v1",
    kind: "PodTemplate",
    // No name: one that exists would answer 409.
    metadata: { generateName: "quartet-", namespace },
    template,
  };
  try {
    await client.create(POD_TEMPLATE, object, {
      dryRun: true,
      fieldValidation: "Strict",
      signal,
      timeoutMs: ONE_MS,
      onWarning: (text) => warnings.push(withoutRoot(text)),
    });
    return { kind: "valid", warnings };
  } catch (error) {
    return judgementOf(error, warnings);
  }
}

/** Only 400 and 422 are about the template. */
function judgementOf(error: unknown, warnings: readonly string[]): Judgement {
  if (error instanceof ApiError && (error.code === 400 || error.code === 422)) {
    return { kind: "invalid", violations: violationsOf(error), warnings };
  }
  return { kind: "undecided", reason: error instanceof Error ? error.message : String(error) };
}

/** The causes of a 422; of a 400, which has none, what its message names. */
export function violationsOf({
  code,
  message,
  details,
}: Pick<ApiError, "code" | "message" | "details">): Violation[] {
  if (code === 422 && details.causes.length > 0) {
    return details.causes.map(({ field = "", message: text = message, reason }) => ({
      path: pathOf(field),
      message: withoutRoot(text),
      ...(reason !== undefined && { reason }),
    }));
  }
  const text = message.slice(0, MAX_WORDS).replace(/^.*?cannot be handled as a PodTemplate: /s, "");
  const strict = [...text.matchAll(/(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g)];
  if (strict.length > 0) {
    return strict.map(([, kind, field = ""]) => ({ path: pathOf(field), message: `${kind} field` }));
  }
  const typed = /cannot unmarshal (.+) into Go struct field \w+\.(template\S*) of type (\S+)/.exec(text);
  if (typed !== null) {
    const [, value, field = "", type] = typed;
    return [{ path: pathOf(field), message: `must be of type ${type}, not ${value}` }];
  }
  return [{ path: "", message: withoutRoot(text) }];
}

/** `template.spec.x` is `spec.x`; labels and annotations are told without `metadata`. */
function pathOf(field: string): string {
  const path = field.replace(/^template\.?/, "");
  return /^(labels|annotations)\b/.test(path) ? `metadata.${path}` : path;
}

/** A text in which paths begin at the template. */
function withoutRoot(text: string): string {
  return text.replaceAll(/\btemplate\.(?=spec\b|metadata\b|labels\b|annotations\b)/g, "");
}
