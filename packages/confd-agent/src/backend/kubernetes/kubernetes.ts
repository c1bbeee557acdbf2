/** ConfigMaps and Secrets of a Kubernetes cluster as a source. */
import { existsSync, readFileSync } from "node:fs";
import { type Client, createClient, loadConnection } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject, SECRET } from "@quartet/core/kinds";
import { bytesOf, textOf } from "@quartet/go-template";
import type { BackendSettings, Environment } from "../../config/settings.ts";
import { VERSION } from "../../version.ts";
import { type Backend, belongs, type Snapshot } from "../backend.ts";
import { flattenText } from "../flatten.ts";
import { createFollower, type Follower } from "./follower.ts";
import { type Request, requestKey, requestsOf, resolvedRange } from "./keys.ts";
import { refusal, selection } from "./selection.ts";

const NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
const DEFAULT_NAMESPACE = "default";
const TREES = /\.(json|ya?ml)$/;

export interface KubernetesOptions {
  readonly settings: BackendSettings;
  readonly environment: Environment;
  /** A watch without a byte for so long is begun again, in milliseconds; default as the follower has it. */
  readonly silenceMs?: number;
}

/** Opens a client; the cluster is asked with the first read. */
export async function createKubernetesBackend({
  settings,
  environment,
  silenceMs,
}: KubernetesOptions): Promise<Backend> {
  const connection = await loadConnection({
    env: environment,
    ...(settings.kubeconfig === "" ? {} : { kubeconfig: settings.kubeconfig }),
    ...(settings.kubeContext === "" ? {} : { context: settings.kubeContext }),
  });
  const client = createClient({ connection, version: VERSION });
  const namespace = settings.kubeNamespace || podNamespace() || connection.namespace || DEFAULT_NAMESPACE;
  const followers = new Map<string, Follower>();
  const read = async (ranges: readonly string[], signal: AbortSignal): Promise<Snapshot> => {
    const values = new Map<string, string>();
    const requests = new Map(
      ranges
        .flatMap((range) => requestsOf(range, namespace))
        .map((request) => [requestKey(request), request]),
    );
    for (const request of requests.values()) {
      // What is followed is in memory, and current.
      const objects = followers.get(requestKey(request))?.objects() ?? (await list(client, request, signal));
      for (const object of objects) addValues(request, object, settings.kubeExpand, values);
    }
    return { values: named(ranges, namespace, values) };
  };
  return {
    label: "kubernetes",
    read: (ranges, { signal }) => read(ranges, signal),
    keepsPrivate: true,
    isSecret: (range) => range === "/" || range === "/secrets" || range.startsWith("/secrets/"),
    watch: async (ranges, events, signal) => {
      const requests = new Map(
        ranges
          .flatMap((range) => requestsOf(range, namespace))
          .map((request) => [requestKey(request), request]),
      );
      const waiting = new Set(requests.keys());
      const ready = (key: string): void => {
        if (waiting.delete(key) && waiting.size === 0) events.onReady({ resumed: false });
      };
      const running = [...requests].map(async ([key, request]) => {
        const follower = createFollower({
          client,
          request,
          settings,
          silenceMs,
          onReady: () => ready(key),
          onChange: () => events.onChange({ keys: changedKeys(request, ranges, namespace) }),
          onNotice: events.onNotice,
        });
        followers.set(key, follower);
        try {
          await follower.run(signal);
        } finally {
          followers.delete(key);
        }
      });
      await Promise.all(running);
    },
    health: async () => void (await client.serverVersion()),
    close: async () => client.close(),
  };
}

function podNamespace(): string {
  return existsSync(NAMESPACE_FILE) ? readFileSync(NAMESPACE_FILE, "utf8").trim() : "";
}

async function list(client: Client, request: Request, signal: AbortSignal): Promise<readonly ConfigObject[]> {
  const kind = request.resource === "secrets" ? SECRET : CONFIG_MAP;
  try {
    const { items } = await client.list(kind, { ...selection(request), signal });
    return items;
  } catch (error) {
    throw refusal(request, error);
  }
}

function addValues(request: Request, object: ConfigObject, expand: boolean, into: Map<string, string>): void {
  const { namespace = "", name = "" } = object.metadata;
  const path = `/${request.resource}/${bytesOf(`${namespace}/${name}`)}`;
  const isSecret = request.resource === "secrets";
  const add = (key: string, value: string): void => {
    const full = `${path}/${bytesOf(key)}`;
    into.set(full, value);
    if (expand && TREES.test(key)) flattenText(textOf(full), textOf(value), full, into);
  };
  for (const [key, value] of Object.entries(object.data ?? {})) {
    add(key, isSecret ? Buffer.from(value, "base64").toString("latin1") : bytesOf(value));
  }
  for (const [key, value] of Object.entries(object.binaryData ?? {})) {
    add(key, Buffer.from(value, "base64").toString("latin1"));
  }
}

/** Values under the names that the ranges have: where `-` stands for the own namespace, keys have it too. */
function named(
  ranges: readonly string[],
  namespace: string,
  values: ReadonlyMap<string, string>,
): Map<string, string> {
  const own = bytesOf(namespace);
  const result = new Map<string, string>();
  for (const range of ranges) {
    const resolved = resolvedRange(range, own);
    for (const [key, value] of values) {
      if (belongs(key, resolved))
        result.set(range + key.slice(resolved === "/" ? 0 : resolved.length), value);
    }
  }
  if (ranges.includes("/")) for (const [key, value] of values) result.set(key, value);
  return result;
}

/** Ranges that a change of the request's objects is about. */
const changedKeys = (request: Request, ranges: readonly string[], namespace: string): string[] =>
  ranges.filter((range) =>
    requestsOf(range, namespace).some((one) => requestKey(one) === requestKey(request)),
  );
