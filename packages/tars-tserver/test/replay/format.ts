/** The form of recorded TARS cases; described in docs/reference/corpora.md. */
import { type Fields, type Json, type RecordedObject, readLines } from "@quartet/testing/replay";

const OPERATIONS = ["create", "update", "delete"] as const;

export interface TarsStep {
  readonly op: (typeof OPERATIONS)[number];
  readonly object: RecordedObject;
  readonly subresource?: "scale";
  /** The object is a JSON merge patch. */
  readonly merge: boolean;
  /** What a step before the last was refused with. */
  readonly denied?: string;
}

export interface TarsResult {
  /** Message that the last step was refused with. */
  readonly denied?: string;
  readonly code?: number;
  /** The step's object as it is stored; `null` after a deletion. */
  readonly stored?: RecordedObject | null;
  readonly children?: readonly RecordedObject[];
  readonly others?: readonly RecordedObject[];
}

export interface TarsCase {
  /** `file:line`. */
  readonly at: string;
  readonly name: string;
  readonly rules: readonly string[];
  readonly differs: readonly string[];
  readonly setup: readonly RecordedObject[];
  readonly steps: readonly TarsStep[];
  readonly result: TarsResult;
  /** The annotation that carries members over conversions counts. */
  readonly carry: boolean;
}

/** Cases of a file's text. Throws a `CorpusFormatError` that names every bad line. */
export function readTarsCases(text: string, file: string): TarsCase[] {
  return readLines(text, file, (line, at) => {
    const steps = line.list("steps", "the steps that were taken").map(stepOf);
    if (steps.length === 0)
      line.fail("steps", "is empty", "give the steps in the order in which they are taken");
    const result = line.map("result", "what came of the last step").value as TarsResult;
    if (result.denied === undefined && result.stored === undefined)
      line.fail("result", "says nothing", "give denied or stored");
    return {
      at,
      name: line.text("name"),
      rules: line.texts("rules"),
      differs: line.texts("differs"),
      setup: line.list("setup", "objects that exist first, may be empty").map((object) => object.whole()),
      steps,
      result,
      carry: line.value.carry === true,
    };
  });
}

function stepOf(step: Fields): TarsStep {
  const { subresource, merge, denied } = step.value as Json & Partial<TarsStep>;
  if (subresource !== undefined && subresource !== "scale")
    step.fail("subresource", `cannot be ${subresource}`, "scale is the only one");
  return {
    op: step.oneOf("op", OPERATIONS),
    object: step.object("object"),
    merge: merge === true,
    ...(subresource === "scale" && { subresource }),
    ...(typeof denied === "string" && { denied }),
  };
}
