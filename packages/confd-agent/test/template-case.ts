/** Cases of templates, as measured: a store and a template, and the text or the error that comes of them. */
import { bytesOf, parseTemplate, type Template, TemplateError, textOf } from "@quartet/go-template";
import { createStore, type Host, templateFunctions } from "../src/index.ts";

export interface TemplateCase {
  readonly name?: string;
  readonly store: Readonly<Record<string, string>>;
  readonly template: string;
  readonly output?: string;
  readonly stage?: string;
  readonly error?: string;
}

export type TemplateOutcome = Pick<TemplateCase, "output" | "stage" | "error">;

/** A host that has nothing; its time is 2024-02-29T03:04:05.006007008Z. */
export const HOST: Host = {
  environment: {},
  fileExists: () => false,
  now: 1_709_175_845_006_007_008n,
  hostname: "host",
  interfaceAddress: () => "",
  addresses: () => [],
  services: () => [],
};

/** Renders the template as the file `t.tmpl` of an agent. */
export function playTemplate({ store, template }: TemplateCase): TemplateOutcome {
  const entries = Object.entries(store).map(([key, value]) => [bytesOf(key), bytesOf(value)] as const);
  const functions = templateFunctions(createStore(new Map(entries)), HOST);
  let parsed: Template;
  try {
    parsed = parseTemplate({ name: "t.tmpl", source: bytesOf(template), functions });
  } catch (error) {
    return failed("parse", error);
  }
  try {
    return { output: textOf(parsed.render()) };
  } catch (error) {
    return failed("exec", error);
  }
}

function failed(stage: string, error: unknown): TemplateOutcome {
  if (!(error instanceof TemplateError)) throw error;
  return { stage, error: error.message };
}

/** What is wrong with the outcome of a case, or nothing when it is as recorded. */
export function differenceOf(measured: TemplateCase): string | undefined {
  const outcome = playTemplate(measured);
  const fields = ["output", "stage", "error"] as const;
  if (fields.every((field) => outcome[field] === measured[field])) return undefined;
  const expected = Object.fromEntries(fields.map((field) => [field, measured[field]]));
  return `expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(outcome)}`;
}
