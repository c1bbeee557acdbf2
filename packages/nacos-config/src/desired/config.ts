/** From the sources to the configuration that should be in force. */
import { configDigest } from "./digest.ts";
import { byteLength, MAX_CONFIG_BYTES, mergeConfig } from "./merge.ts";
import { listNames, type Notice, warning } from "./notice.ts";
import { ProtectedKeysError, protectedKeys } from "./protected-keys.ts";
import type { ConfigPlan, NacosSpec, SourceRef, SourceRole } from "./settings.ts";
import {
  type ConfigProblem,
  type FoundSource,
  isProblem,
  problem,
  readSource,
  type SourceText,
} from "./source.ts";
import { AUTH_PROPERTY, isPublicToken, isWeakToken, TOKEN_PROPERTY } from "./token.ts";
import type { MountedConfig } from "./volumes.ts";

/** Plan of a resource that has at least one source. */
export type MergedPlan = Extract<ConfigPlan, { mode: "merged" }>;

/** A configuration that may be rolled out. */
export interface ReadyConfig {
  readonly content: string;
  readonly digest: string;
  readonly bytes: number;
  /** Effective properties of the merged text. Holds secrets: for checks only. */
  readonly effective: ReadonlyMap<string, string>;
  /** Part of the text comes from a Secret: nothing of it may be told. */
  readonly secret: boolean;
  /** Counts, and key names unless they are secret, for the condition. */
  readonly message: string;
  /** Worth an event when this content is first seen. */
  readonly notices: readonly Notice[];
}

/** What becomes of the configuration in a pass. */
export interface ConfigResult {
  /** What the pods are to mount; absent when there is nothing yet that they could. */
  readonly wanted?: MountedConfig;
  /** Why the configuration that is asked for is not in force. */
  readonly problem?: ConfigProblem;
  /** The merged configuration, when there is one. */
  readonly ready?: ReadyConfig;
}

/** The configuration of a resource in merged mode, or why what is in force must stay. */
export function resolveConfig(
  plan: MergedPlan,
  spec: NacosSpec,
  found: (ref: SourceRef) => FoundSource,
): ReadyConfig | ConfigProblem {
  const texts = new Map<SourceRole, SourceText>();
  for (const ref of plan.sources) {
    const source = readSource(ref, found(ref));
    if (isProblem(source)) return source;
    texts.set(ref.role, source);
  }
  const content = mergeConfig({
    internal: texts.get("internal")?.text ?? "",
    user: texts.get("user")?.text ?? "",
  });
  if (content === "") {
    return problem(
      "EmptyConfig",
      "all configuration sources are empty, and Nacos needs a configuration to start",
    );
  }
  const bytes = byteLength(content);
  if (bytes > MAX_CONFIG_BYTES) {
    const sizes = `${bytes} bytes, ${MAX_CONFIG_BYTES} are allowed`;
    return problem("ConfigTooLarge", `the merged configuration has ${sizes}; shorten a source`);
  }
  const touched = touchedKeys(texts.get("user"), spec);
  if (touched === undefined) {
    const message =
      "spec.configPolicy.protectedKeys takes too long to compare with the keys of userConfigRef";
    return problem("ProtectedKeysTooCostly", `${message}; use fewer patterns and stars, and shorter keys`);
  }
  const user = plan.sources.find(({ role }) => role === "user");
  const violation = `userConfigRef sets protected keys: ${shownKeys(user, texts, touched)}; remove them there`;
  if (touched.length > 0 && spec.configPolicy?.onViolation === "Reject") {
    return problem("ProtectedKeyOverridden", violation);
  }
  const all = new Map([...effective(texts.get("internal")), ...effective(texts.get("user"))]);
  const policy = touched.length > 0 ? [warning("ProtectedKeyOverridden", violation)] : [];
  return {
    content,
    digest: configDigest(content),
    bytes,
    effective: all,
    secret: plan.sources.some(({ kind }) => kind === "Secret"),
    message: summary(plan, texts),
    notices: [...policy, ...sourceNotices(plan, texts), ...tokenNotices(all)],
  };
}

function effective(source: SourceText | undefined): Map<string, string> {
  return new Map(source?.properties.map(({ key, value }) => [key, value]));
}

/** The user's keys that the policy protects; `undefined` when that takes too long to find out. */
function touchedKeys(user: SourceText | undefined, { configPolicy }: NacosSpec): string[] | undefined {
  try {
    return protectedKeys(effective(user).keys(), configPolicy?.protectedKeys ?? []);
  } catch (error) {
    if (error instanceof ProtectedKeysError) return undefined;
    throw error;
  }
}

/** Names of keys of a ConfigMap. Of a Secret's text every word may be the secret: there the lines are counted. */
function shownKeys(
  ref: SourceRef | undefined,
  texts: ReadonlyMap<SourceRole, SourceText>,
  keys: readonly string[],
): string {
  if (ref?.kind !== "Secret") return listNames(keys);
  const wanted = new Set(keys);
  const properties = texts.get(ref.role)?.properties ?? [];
  const lines = properties.filter(({ key }) => wanted.has(key)).map(({ line }) => line);
  const shown = lines.slice(0, MAX_LINES).join(", ");
  return `${wanted.size} of the Secret, in ${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > MAX_LINES ? " and others" : ""}`;
}

/** Line numbers that are listed. */
const MAX_LINES = 20;

function summary({ sources }: MergedPlan, texts: ReadonlyMap<SourceRole, SourceText>): string {
  const internal = effective(texts.get("internal"));
  const user = effective(texts.get("user"));
  const overridden = [...user.keys()].filter((key) => internal.has(key));
  const counts = `merged ${internal.size} internal and ${user.size} user properties`;
  if (overridden.length === 0) return counts;
  const secret = sources.some(({ kind }) => kind === "Secret");
  return `${counts}; ${overridden.length} internal overridden${secret ? "" : `: ${listNames(overridden)}`}`;
}

function* sourceNotices(
  { sources }: MergedPlan,
  texts: ReadonlyMap<SourceRole, SourceText>,
): Iterable<Notice> {
  const [first, second] = sources.map(({ kind, name, key }) => `${kind} ${name} key ${key}`);
  if (first === second) {
    yield warning("DuplicateConfigRef", `both references name ${first}; its content is merged twice`);
  }
  for (const ref of sources) {
    const { text, properties } = texts.get(ref.role)!;
    const garbled = properties.filter(({ nonAscii }) => nonAscii).map(({ key }) => key);
    if (garbled.length > 0) {
      const keys = ref.kind === "Secret" ? shownKeys(ref, texts, garbled) : listNames(garbled.map(printable));
      const note = `${ref.field}: Nacos reads ISO-8859-1, write other characters as \\uXXXX: ${keys}`;
      yield warning("NonAsciiValue", note);
    }
    if (text.startsWith("\uFEFF")) {
      yield warning("ByteOrderMark", `${ref.field}: the text begins with a byte order mark; remove it`);
    }
  }
}

/** A key that was read byte by byte, as it was meant. */
function printable(key: string): string {
  return Buffer.from(key, "latin1").toString("utf8");
}

function* tokenNotices(properties: ReadonlyMap<string, string>): Iterable<Notice> {
  const token = properties.get(TOKEN_PROPERTY) ?? "";
  if (token === "" || token.includes("${")) return;
  const replace = `${TOKEN_PROPERTY}: replace it by a base64 key of at least 32 random bytes`;
  const enabled = properties.get(AUTH_PROPERTY)?.trim().toLowerCase() === "true";
  if (isPublicToken(token)) {
    yield warning("InsecureDefaultToken", `the token key is publicly known. ${replace}`);
  } else if (enabled && isWeakToken(token)) {
    yield warning("TokenTooWeak", `Nacos refuses to start with this token key. ${replace}`);
  }
}
