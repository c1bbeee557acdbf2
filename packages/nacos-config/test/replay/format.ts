/** The two corpus formats of the peer operator: recorded cases and adoptions. Described in docs/reference/corpora.md. */
import { OPERATIONS, type RecordedObject, readLines, type Step } from "@quartet/testing/replay";

/** State at rest after a step. */
export interface TraceEntry {
  readonly afterStep: number;
  /** `null`: there is none. */
  readonly statefulSet?: null;
  readonly generation?: number;
  readonly templateChanged?: boolean;
  readonly recreated?: boolean;
  readonly replicas?: number;
  readonly digest?: string;
  /** What the API server answered when it refused the step. */
  readonly apiError?: unknown;
}

export interface RecordedCase {
  /** `file:line`. */
  readonly at: string;
  readonly name: string;
  readonly rules: readonly string[];
  /** Rules and decisions by which the product does otherwise on purpose. */
  readonly differs: readonly string[];
  readonly steps: readonly Step[];
  readonly expect: { readonly children: readonly RecordedObject[]; readonly trace: readonly TraceEntry[] };
}

export interface RecordedAdoption {
  /** `file:line`. */
  readonly at: string;
  readonly name: string;
  readonly rules: readonly string[];
  readonly resource: RecordedObject;
  readonly sources: readonly RecordedObject[];
  readonly statefulSet: RecordedObject;
  readonly otherChildren: readonly RecordedObject[];
  readonly expect: { readonly templateChanged: boolean };
}

/** Cases of a file's text. Throws a `CorpusFormatError` that names every bad line. */
export function readCases(text: string, file: string): RecordedCase[] {
  return readLines(text, file, (line, at) => {
    const steps = line.list("steps", "the steps that were taken").map((step) => ({
      op: step.oneOf("op", OPERATIONS),
      object: step.object("object"),
    }));
    if (steps.length === 0)
      line.fail("steps", "is empty", "give the steps in the order in which they are taken");
    if (!steps.some(({ object }) => object.kind === "Nacos"))
      line.fail("steps", "has no object of kind Nacos", "apply the resource that the case is about");
    const expect = line.map("expect", "what is there at the end and after each step");
    const children = expect.list("children", "all objects that the resource owns at the end, may be empty");
    const trace = expect.list("trace", "the state at rest after the steps, may be empty");
    return {
      at,
      name: line.text("name"),
      rules: line.texts("rules"),
      differs: line.texts("differs"),
      steps,
      expect: {
        children: children.map((child) => child.whole()),
        trace: trace.map((entry) => {
          entry.index("afterStep", steps.length);
          return entry.value as unknown as TraceEntry;
        }),
      },
    };
  });
}

/** Adoptions of a file's text. Throws a `CorpusFormatError` that names every bad line. */
export function readAdoptions(text: string, file: string): RecordedAdoption[] {
  return readLines(text, file, (line, at) => ({
    at,
    name: line.text("name"),
    rules: line.texts("rules"),
    resource: line.object("resource"),
    sources: line
      .list("sources", "the objects that the resource refers to, may be empty")
      .map((s) => s.whole()),
    statefulSet: line.object("statefulSet"),
    otherChildren: line
      .list("otherChildren", "the other objects of the peer, may be empty")
      .map((c) => c.whole()),
    expect: { templateChanged: line.map("expect", "{templateChanged}").flag("templateChanged") },
  }));
}
