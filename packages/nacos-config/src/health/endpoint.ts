/** Where a node's HTTP API is found, judged by its properties and environment. */
import type { DeepReadonly } from "@quartet/core";
import type { StatefulSet } from "@quartet/core/kinds";
import { itemsOf } from "@quartet/pod-template";
import { CLIENT_PORT } from "../desired/ports.ts";

/** Context path of the API unless the properties say otherwise (Nacos). */
const DEFAULT_CONTEXT_PATH = "/nacos";
/** Longest path that is taken, in characters; it goes into each request. */
const MAX_CONTEXT_PATH = 1_024;
/** Names of the two settings in Nacos 2 and 3; the later a name stands, the more it counts. */
const PORT_PROPERTIES = ["server.port", "nacos.server.main.port"];
const CONTEXT_PROPERTIES = [
  "server.servlet.contextPath",
  "server.servlet.context-path",
  "nacos.server.contextPath",
];

export interface Endpoint {
  readonly port: number;
  /** Without trailing slash; empty when the API lies at the root. */
  readonly contextPath: string;
}

/**
 * Endpoint by the effective properties.
 * @param env literal values of the container's environment, for `${NAME:default}`
 */
export function endpointOf(
  properties: ReadonlyMap<string, string>,
  env: ReadonlyMap<string, string>,
): Endpoint {
  const setting = (names: readonly string[]): string | undefined => {
    const value = names.map((name) => properties.get(name)).findLast((found) => found !== undefined);
    return value === undefined ? undefined : resolve(value, env).trim();
  };
  const port = Number(setting(PORT_PROPERTIES));
  const given = setting(CONTEXT_PROPERTIES) ?? DEFAULT_CONTEXT_PATH;
  const path = given.length > MAX_CONTEXT_PATH ? DEFAULT_CONTEXT_PATH : given;
  return {
    port: Number.isInteger(port) && port > 0 && port < 65_536 ? port : CLIENT_PORT.port,
    contextPath: `/${path}`.replace(/\/{2,}/g, "/").replace(/\/$/, ""),
  };
}

/** Literal values in the environment of the StatefulSet's Nacos container. */
export function literalEnv(statefulSet: DeepReadonly<StatefulSet>): Map<string, string> {
  const container = statefulSet.spec.template.spec.containers.find(
    ({ name }) => name === statefulSet.metadata.name,
  );
  const entries = itemsOf(container?.env).map(({ name, value }) => [String(name), value] as const);
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/**
 * Replaces `${NAME}` and `${NAME:default}`; what is unknown and has no default becomes empty. The name is not empty and
 * ends with the first colon, the whole with the first brace. Each character is looked at a few times at most.
 */
function resolve(value: string, env: ReadonlyMap<string, string>): string {
  let result = "";
  let from = 0;
  let close = -1;
  for (let open = value.indexOf("${"); open !== -1; open = value.indexOf("${", from)) {
    const start = open + 2;
    if (close < start) close = value.indexOf("}", start);
    if (close === -1) break;
    if (close === start || value[start] === ":") {
      result += value.slice(from, start);
      from = start;
      continue;
    }
    const [name, fallback] = splitOnce(value.slice(start, close), ":");
    result += value.slice(from, open) + (env.get(name) ?? fallback ?? "");
    from = close + 1;
  }
  return result + value.slice(from);
}

function splitOnce(text: string, separator: string): [head: string, tail?: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
