/** What v1beta2 has no place for travels in an annotation whose form is the peer's (CV-002, CV-003). */
import { isMap } from "@quartet/pod-template";
import { CARRY_ANNOTATION } from "../labels.ts";

/** Members of a v1beta3 TServer that v1beta2 lacks. */
export interface Carry {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly readinessGates: readonly string[];
}

/** Members of a v1beta3 TFrameworkConfig that v1beta2 lacks. */
export interface Executor {
  readonly image: string;
  readonly secret: string;
}

type Annotations = Readonly<Record<string, string>>;

/** The `append` part of the annotation; `undefined` when there is none or it cannot be read (CV-005). */
function appended(annotations: Annotations | undefined): Record<string, unknown> | undefined {
  const text = annotations?.[CARRY_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const append = isMap(value) ? value.append : undefined;
    return isMap(append) ? append : undefined;
  } catch {
    return undefined;
  }
}

/** Lists that the annotation carries; empty where it has none. */
export function readCarry(annotations: Annotations | undefined): Carry {
  const append = appended(annotations);
  return {
    command: texts(append?.command),
    args: texts(append?.args),
    readinessGates: texts(append?.readinessGates),
  };
}

/** Annotations with the lists; without the annotation when all are empty. */
export function withCarry(
  annotations: Annotations | undefined,
  carry: Carry,
): Record<string, string> | undefined {
  const { command, args, readinessGates } = carry;
  const empty = command.length + args.length + readinessGates.length === 0;
  return annotated(annotations, empty ? undefined : { command, args, readinessGates });
}

/** Executor that the annotation carries. */
export function readExecutor(annotations: Annotations | undefined): Executor {
  const executor = appended(annotations)?.executor;
  const text = (member: string): string => {
    const value = isMap(executor) ? executor[member] : undefined;
    return typeof value === "string" ? value : "";
  };
  return { image: text("image"), secret: text("secret") };
}

/** Annotations with the executor; without the annotation when it is empty. */
export function withExecutor(
  annotations: Annotations | undefined,
  { image, secret }: Executor,
): Record<string, string> | undefined {
  const empty = image === "" && secret === "";
  return annotated(annotations, empty ? undefined : { executor: { image, secret } });
}

/** True when there is such an annotation that nobody can read. */
export function isCarryBroken(annotations: Annotations | undefined): boolean {
  return annotations?.[CARRY_ANNOTATION] !== undefined && appended(annotations) === undefined;
}

/** Annotations without the one that carries; `undefined` when none is left. */
export function withoutCarry(annotations: Annotations | undefined): Record<string, string> | undefined {
  return annotated(annotations, undefined);
}

function annotated(
  annotations: Annotations | undefined,
  append: object | undefined,
): Record<string, string> | undefined {
  const { [CARRY_ANNOTATION]: _carried, ...rest } = annotations ?? {};
  if (append !== undefined) return { ...rest, [CARRY_ANNOTATION]: JSON.stringify({ append, drop: {} }) };
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
