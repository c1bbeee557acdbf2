/** The form of recorded tunnel cases; described in docs/reference/corpora.md. */
import { type Fields, type Json, readLines } from "@quartet/testing/replay";

const OPERATIONS = ["apply", "patch", "delete", "remote", "fault", "clearFaults", "wait"] as const;
/** Versions by kind; everything else is of the group of the product, in its storage version. */
const VERSIONS: Readonly<Record<string, string>> = {
  Secret: "v1",
  Service: "v1",
  Namespace: "v1",
  Node: "v1",
  ConfigMap: "v1",
  Deployment: "apps/v1",
  Ingress: "networking.k8s.io/v1",
  IngressClass: "networking.k8s.io/v1",
  Gateway: "gateway.networking.k8s.io/v1",
  GatewayClass: "gateway.networking.k8s.io/v1",
  HTTPRoute: "gateway.networking.k8s.io/v1",
  ReferenceGrant: "gateway.networking.k8s.io/v1beta1",
  TunnelBinding: "networking.cloudflare-operator.io/v1alpha1",
};
const OWN_VERSION = "networking.cloudflare-operator.io/v1alpha2";

/** An object as a case gives it, with the version that it is sent in. */
export interface CaseObject extends Json {
  apiVersion: string;
  kind: string;
  metadata: Json & { name: string; namespace?: string };
}

export interface TunnelStep {
  readonly op: (typeof OPERATIONS)[number];
  /** Of apply, patch and delete; of a patch without the patch. */
  readonly object?: CaseObject;
  /** JSON merge patch. */
  readonly patch?: Json;
  readonly subresource?: string;
  /** Fields of a fault. */
  readonly fault?: Json;
  /** A call by somebody else. */
  readonly remote?: RemoteCall;
  readonly seconds?: number;
}

export interface RemoteCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** What was recorded, as it stands in the file. Every member may be missing: then nothing is compared of it. */
export interface Expected {
  readonly configMap?: readonly Json[];
  readonly requests?: readonly Json[];
  readonly dns?: readonly Json[];
  readonly conditions?: readonly Json[];
  readonly events?: readonly Json[];
  readonly objects?: readonly Json[];
  readonly remoteTunnels?: readonly Json[];
  readonly snapshots?: readonly Json[];
  readonly denied?: readonly Json[];
}

export interface TunnelCase {
  /** `file:line`. */
  readonly at: string;
  readonly name: string;
  readonly rules: readonly string[];
  readonly differs: readonly string[];
  readonly remote: readonly RemoteCall[];
  readonly steps: readonly TunnelStep[];
  readonly expect: Expected;
}

/** Cases of a file's text. Throws a `CorpusFormatError` that names every bad line. */
export function readTunnelCases(text: string, file: string): TunnelCase[] {
  return readLines(text, file, (line, at) => {
    const steps = line.list("steps", "the steps that were taken").map(stepOf);
    if (steps.length === 0)
      line.fail("steps", "is empty", "give the steps in the order in which they are taken");
    const before = line.value.remote === undefined ? [] : line.list("remote", "calls that were made first");
    return {
      at,
      name: line.text("name"),
      rules: line.texts("rules"),
      differs: line.texts("differs"),
      remote: before.map(callOf),
      steps,
      expect: line.map("expect", "the state at rest after the steps").value as Expected,
    };
  });
}

function stepOf(step: Fields): TunnelStep {
  const op = step.oneOf("op", OPERATIONS);
  const { object = {}, seconds, subresource, patch } = step.value as Json & { object?: Json };
  if (op === "clearFaults") return { op };
  if (op === "wait") {
    if (typeof seconds !== "number") return step.fail("seconds", "is missing", "give a number of seconds");
    return { op, seconds };
  }
  if (op === "fault") return { op, fault: step.map("object", "path, method, status and so on").value };
  if (op === "remote") return { op, remote: callOf(step.map("object", "method, path and body")) };
  const fields = step.map("object", "a Kubernetes object");
  const kind = fields.text("kind");
  fields.map("metadata", "with a name").text("name");
  const { patch: inner, subresource: part, ...rest } = object;
  const whole = { apiVersion: VERSIONS[kind] ?? OWN_VERSION, ...rest } as CaseObject;
  const sub = subresource ?? part;
  return {
    op,
    object: whole,
    ...(op === "patch" && { patch: (inner ?? patch) as Json }),
    ...(typeof sub === "string" && { subresource: sub }),
  };
}

function callOf(call: Fields): RemoteCall {
  const { method = "POST", body } = call.value;
  return { method: String(method), path: call.text("path"), ...(body !== undefined && { body }) };
}

/** Version of a kind that an expectation names. */
export function versionOf(kind: string): string {
  return VERSIONS[kind] ?? OWN_VERSION;
}
