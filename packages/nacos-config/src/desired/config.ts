/** From the sources to the configuration that should be in force. */
import { configDigest } from "./digest.ts";
import { byteLength, MAX_CONFIG_BYTES, mergeConfig } from "./merge.ts";
import { listNames, type Notice, warning } from "./notice.ts";
import { protectedKeys } from "./protected-keys.ts";
import type { ConfigPlan, NacosSpec, SourceRef, SourceRole } from "./settings.ts";
import { type ConfigProblem, type FoundSource, isProblem, readSource, type SourceText } from "./source.ts";
import { AUTH_PROPERTY, isPublicToken, isWeakToken, TOKEN_PROPERTY } from "./token.ts";

/** Plan of a resource that has at least one source. */
export type MergedPlan = Extract<ConfigPlan, { mode: "merged" }>;

/** A configuration that may be rolled out. */
export interface ReadyConfig {
  readonly state: "ready";
  readonly content: string;
  readonly digest: string;
  readonly bytes: number;
  /** Effective properties of the merged text. Holds secrets: for checks only. */
  readonly effective: ReadonlyMap<string, string>;
  /** Counts and key names, for the condition. */
  readonly message: string;
  /** Worth an event when this content is first seen. */
  readonly notices: readonly Notice[];
}

/** A configuration that must not be rolled out: what is in force stays. */
export interface HeldConfig extends ConfigProblem {
  readonly state: "held";
}

/** The configuration of a resource in merged mode. */
export function resolveConfig(
  plan: MergedPlan,
  spec: NacosSpec,
  found: (ref: SourceRef) => FoundSource,
): ReadyConfig | HeldConfig {
  const texts = new Map<SourceRole, SourceText>();
  for (const ref of plan.sources) {
    const source = readSource(ref, found(ref));
    if (isProblem(source)) return held(source.reason, source.message);
    texts.set(ref.role, source);
  }
  const content = mergeConfig({
    internal: texts.get("internal")?.text ?? "",
    user: texts.get("user")?.text ?? "",
  });
  if (content === "") {
    return held(
      "EmptyConfig",
      "all configuration sources are empty, and Nacos needs a configuration to start",
    );
  }
  const bytes = byteLength(content);
  if (bytes > MAX_CONFIG_BYTES) {
    const sizes = `${bytes} bytes, ${MAX_CONFIG_BYTES} are allowed`;
    return held("ConfigTooLarge", `the merged configuration has ${sizes}; shorten a source`);
  }
  const touched = protectedKeys(effective(texts.get("user")).keys(), spec.configPolicy?.protectedKeys ?? []);
  if (touched.length > 0 && spec.configPolicy?.onViolation === "Reject") {
    return held("ProtectedKeyOverridden", protectedMessage(touched));
  }
  const all = new Map([...effective(texts.get("internal")), ...effective(texts.get("user"))]);
  const policy = touched.length > 0 ? [warning("ProtectedKeyOverridden", protectedMessage(touched))] : [];
  return {
    state: "ready",
    content,
    digest: configDigest(content),
    bytes,
    effective: all,
    message: summary(texts),
    notices: [...policy, ...sourceNotices(plan, texts), ...tokenNotices(all)],
  };
}

function held(reason: string, message: string): HeldConfig {
  return { state: "held", reason, message };
}

function effective(source: SourceText | undefined): Map<string, string> {
  return new Map(source?.properties.map(({ key, value }) => [key, value]));
}

function protectedMessage(keys: readonly string[]): string {
  return `userConfigRef sets protected keys: ${listNames(keys)}; remove them there`;
}

function summary(texts: ReadonlyMap<SourceRole, SourceText>): string {
  const internal = effective(texts.get("internal"));
  const user = effective(texts.get("user"));
  const overridden = [...user.keys()].filter((key) => internal.has(key));
  const counts = `merged ${internal.size} internal and ${user.size} user properties`;
  if (overridden.length === 0) return counts;
  return `${counts}; ${overridden.length} internal overridden: ${listNames(overridden)}`;
}

function sourceNotices({ sources }: MergedPlan, texts: ReadonlyMap<SourceRole, SourceText>): Notice[] {
  const notices: Notice[] = [];
  const [first, second] = sources;
  if (
    first &&
    second &&
    first.kind === second.kind &&
    first.name === second.name &&
    first.key === second.key
  ) {
    const what = `${first.kind} ${first.name} key ${first.key}`;
    notices.push(warning("DuplicateConfigRef", `both references name ${what}; its content is merged twice`));
  }
  for (const ref of sources) {
    const { text, properties } = texts.get(ref.role)!;
    const garbled = properties.filter(({ nonAscii }) => nonAscii).map(({ key }) => key);
    if (garbled.length > 0) {
      const keys = listNames(garbled.map(printable));
      notices.push(
        warning(
          "NonAsciiValue",
          `${ref.field}: Nacos reads ISO-8859-1, write other characters as \\uXXXX: ${keys}`,
        ),
      );
    }
    if (text.startsWith("\uFEFF")) {
      notices.push(
        warning("ByteOrderMark", `${ref.field}: the text begins with a byte order mark; remove it`),
      );
    }
  }
  return notices;
}

/** A key that was read byte by byte, as it was meant. */
function printable(key: string): string {
  return Buffer.from(key, "latin1").toString("utf8");
}

function tokenNotices(properties: ReadonlyMap<string, string>): Notice[] {
  const token = properties.get(TOKEN_PROPERTY);
  if (token === undefined || token === "" || token.includes("${")) return [];
  const replace = `${TOKEN_PROPERTY}: replace it by a base64 key of at least 32 random bytes`;
  if (isPublicToken(token)) {
    return [warning("InsecureDefaultToken", `the token key is publicly known. ${replace}`)];
  }
  const enabled = properties.get(AUTH_PROPERTY)?.trim().toLowerCase() === "true";
  if (!enabled || !isWeakToken(token)) return [];
  return [warning("TokenTooWeak", `Nacos refuses to start with this token key. ${replace}`)];
}
