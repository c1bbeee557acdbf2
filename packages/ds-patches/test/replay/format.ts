/** The form of recorded DaemonSet cases; described in docs/reference/corpora.md. */
import { type Fields, type Json, type RecordedObject, readLines } from "@quartet/testing/replay";

const OPERATIONS = [
  "create",
  "patch",
  "read",
  "deleteDaemonSet",
  "addNode",
  "deleteNode",
  "labelNode",
  "taintNode",
  "cordon",
  "nodeReady",
  "ready",
  "unready",
  "phase",
  "deletePod",
  "labelPod",
  "patchPod",
  "createPod",
  "ownerVersion",
  "wait",
] as const;

export interface CaseNode {
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly taints?: readonly { key: string; value?: string; effect: "NoSchedule" | "NoExecute" }[];
  readonly unschedulable?: boolean;
  /** Default true. */
  readonly ready?: boolean;
}

/** A step; which members it has depends on `op`. */
export interface CaseStep {
  readonly op: (typeof OPERATIONS)[number];
  readonly object?: RecordedObject;
  /** JSON merge patch of the DaemonSet, or of a pod. */
  readonly patch?: Json;
  /** API version of the request, such as `v1alpha1`. */
  readonly version?: string;
  readonly propagation?: string;
  /** Name of a node; of `addNode` the whole node. */
  readonly node?: string | CaseNode;
  readonly nodes?: "all" | readonly string[];
  /** Only pods of this revision. */
  readonly rev?: string;
  readonly labels?: Record<string, string | null>;
  readonly taints?: CaseNode["taints"];
  readonly unschedulable?: boolean;
  readonly status?: string;
  readonly phase?: string;
  readonly pod?: Json;
  readonly apiVersion?: string;
  readonly seconds?: number;
}

/** What stands after a step; the members that are absent were not recorded. */
export type StepState = Readonly<Record<string, unknown>>;

export interface DaemonSetCase {
  /** `file:line`. */
  readonly at: string;
  readonly name: string;
  readonly rules: readonly string[];
  /** What the product does otherwise on purpose, in words that name decisions and rules. */
  readonly differs: string;
  readonly nodes: readonly CaseNode[];
  readonly steps: readonly CaseStep[];
  readonly after: readonly StepState[];
  /** Whole pods at the end, by their nodes. */
  readonly exactPods: readonly { readonly node: string; readonly pod: Json }[];
  /** Numbers of the revisions at the end. */
  readonly revisions: Json;
  /** Reasons of events on the DaemonSet, with their types. */
  readonly eventReasons: Json;
}

/** Cases of a file's text. Throws a `CorpusFormatError` that names every bad line. */
export function readDaemonSetCases(text: string, file: string): DaemonSetCase[] {
  return readLines(text, file, (line, at) => {
    const steps = line.list("steps", "the steps that were taken").map(stepOf);
    const expect = line.map("expect", "what came of the steps");
    const after = expect.list("after", "the state after each step").map(({ value }) => value);
    if (after.length !== steps.length)
      expect.fail("after", `has ${after.length} states for ${steps.length} steps`, "give one for each step");
    const { differs } = line.value;
    return {
      at,
      name: line.text("name"),
      rules: line.texts("rules"),
      differs: typeof differs === "string" ? differs : line.texts("differs").join("; "),
      nodes: line.list("nodes", "the nodes, may be empty").map((node) => nodeOf(node)),
      steps,
      after,
      exactPods: exactPodsOf(expect),
      revisions: expect.map("revisions", "numbers by revision").value,
      eventReasons: expect.map("eventReasons", "types by reason").value,
    };
  });
}

function nodeOf(node: Fields): CaseNode {
  node.text("name");
  return node.value as unknown as CaseNode;
}

function stepOf(step: Fields): CaseStep {
  const op = step.oneOf("op", OPERATIONS);
  if (op === "create") step.object("object");
  if (op === "patch" || op === "patchPod") step.map("patch", "a JSON merge patch");
  if (op === "createPod") step.map("pod", "a pod");
  if (op === "addNode") nodeOf(step.map("node", "with a name"));
  return step.value as unknown as CaseStep;
}

function exactPodsOf(expect: Fields): DaemonSetCase["exactPods"] {
  if (expect.value.exactPods === undefined) return [];
  return expect.list("exactPods", "pods with their nodes").map((entry) => ({
    node: entry.text("node"),
    pod: entry.map("pod", "the whole pod").value,
  }));
}
