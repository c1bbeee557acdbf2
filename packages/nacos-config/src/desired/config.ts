/** From the sources to the configuration that should be in force. */
import { configDigest } from "./digest.ts";
import { byteLength, MAX_CONFIG_BYTES, mergeConfig } from "./merge.ts";
import { listNames, type Notice, warning } from "./notice.ts";
import { ProtectedKeysError, protectedKeys } from "./protected-keys.ts";
import type { ConfigPlan, NacosSpec, SourceRef } from "./settings.ts";
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

/** Line numbers that are listed. */
const MAX_LINES = 20;

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

/** A source that was read. */
interface Source extends SourceText {
  readonly ref: SourceRef;
  readonly effective: ReadonlyMap<string, string>;
}

/** The configuration of a resource in merged mode, or why what is in force must stay. */
export function resolveConfig(
  plan: MergedPlan,
  spec: NacosSpec,
  found: (ref: SourceRef) => FoundSource,
): ReadyConfig | ConfigProblem {
  const sources: Source[] = [];
  for (const ref of plan.sources) {
    const source = readSource(ref, found(ref));
    if (isProblem(source)) return source;
    const effective = new Map(source.properties.map(({ key, value }) => [key, value]));
    sources.push({ ...source, ref, effective });
  }
  const internal = sources.find(({ ref }) => ref.role === "internal");
  const user = sources.find(({ ref }) => ref.role === "user");
  const content = mergeConfig({ internal: internal?.text ?? "", user: user?.text ?? "" });
  if (content === "") {
    const message = "all configuration sources are empty, and Nacos needs a configuration to start";
    return problem("EmptyConfig", message);
  }
  const bytes = byteLength(content);
  if (bytes > MAX_CONFIG_BYTES) {
    const sizes = `${bytes} bytes, ${MAX_CONFIG_BYTES} are allowed`;
    return problem("ConfigTooLarge", `the merged configuration has ${sizes}; shorten a source`);
  }
  const policy = user && policyNotice(user, spec);
  if (policy !== undefined && "message" in policy) return policy;
  const effective = new Map(sources.flatMap((source) => [...source.effective]));
  return {
    content,
    digest: configDigest(content),
    bytes,
    effective,
    secret: sources.some(({ ref }) => ref.kind === "Secret"),
    message: summary(sources, internal, user),
    notices: [...(policy ? [policy] : []), ...sourceNotices(sources), ...tokenNotices(effective)],
  };
}

/** What the policy has to say of the user's keys: a warning, or why the configuration is not taken. */
function policyNotice(user: Source, { configPolicy }: NacosSpec): Notice | ConfigProblem | undefined {
  const touched = touchedKeys(user, configPolicy?.protectedKeys ?? []);
  if (touched === undefined) {
    const message =
      "spec.configPolicy.protectedKeys takes too long to compare with the keys of userConfigRef";
    return problem("ProtectedKeysTooCostly", `${message}; use fewer patterns and stars, and shorter keys`);
  }
  if (touched.length === 0) return undefined;
  const violation = `userConfigRef sets protected keys: ${shownKeys(user, touched)}; remove them there`;
  const report = configPolicy?.onViolation === "Reject" ? problem : warning;
  return report("ProtectedKeyOverridden", violation);
}

/** The user's keys that the policy protects; `undefined` when that takes too long to find out. */
function touchedKeys({ effective }: Source, patterns: readonly string[]): string[] | undefined {
  try {
    return protectedKeys(effective.keys(), patterns);
  } catch (error) {
    if (error instanceof ProtectedKeysError) return undefined;
    throw error;
  }
}

/** Names of keys of a ConfigMap. Of a Secret's text every word may be the secret: there the lines are counted. */
function shownKeys({ ref, properties }: Source, keys: readonly string[]): string {
  if (ref.kind !== "Secret") return listNames(keys);
  const wanted = new Set(keys);
  const lines = properties.filter(({ key }) => wanted.has(key)).map(({ line }) => line);
  const shown = lines.slice(0, MAX_LINES).join(", ");
  return `${wanted.size} of the Secret, in ${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > MAX_LINES ? " and others" : ""}`;
}

function summary(sources: readonly Source[], internal: Source | undefined, user: Source | undefined): string {
  const before: ReadonlyMap<string, string> = internal?.effective ?? new Map();
  const after: ReadonlyMap<string, string> = user?.effective ?? new Map();
  const overridden = [...after.keys()].filter((key) => before.has(key));
  const counts = `merged ${before.size} internal and ${after.size} user properties`;
  if (overridden.length === 0) return counts;
  const secret = sources.some(({ ref }) => ref.kind === "Secret");
  return `${counts}; ${overridden.length} internal overridden${secret ? "" : `: ${listNames(overridden)}`}`;
}

function* sourceNotices(sources: readonly Source[]): Iterable<Notice> {
  const [first, second] = sources.map(({ ref }) => `${ref.kind} ${ref.name} key ${ref.key}`);
  if (first === second) {
    yield warning("DuplicateConfigRef", `both references name ${first}; its content is merged twice`);
  }
  for (const source of sources) {
    const { ref, text, properties } = source;
    const garbled = properties.filter(({ nonAscii }) => nonAscii).map(({ key }) => key);
    if (garbled.length > 0) {
      const keys = ref.kind === "Secret" ? shownKeys(source, garbled) : listNames(garbled.map(printable));
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
