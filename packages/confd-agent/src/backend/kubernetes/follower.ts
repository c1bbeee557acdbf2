/** Follows the objects of one request: a list, then a watch from there, again and again. */
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type Client } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject, SECRET } from "@quartet/core/kinds";
import type { BackendSettings } from "../../config/settings.ts";
import { backoffDelay } from "../../run/backoff.ts";
import type { WatchEvents } from "../backend.ts";
import type { Request } from "./keys.ts";
import { refusal, selection } from "./selection.ts";

/** The server ends a watch after this, in seconds; it is then begun again where it was. */
const WATCH_SECONDS = 300;
/**
 * A watch that brings nothing for so long is begun again where it was, in milliseconds: an API server sends bookmarks
 * every minute to those who watch what changes at all, and the others ask again for little. What a firewall has forgotten
 * looks connected, and so does a server that hangs.
 */
const SILENCE_MS = 75_000;
/** The history since the last event is gone. */
const GONE = 410;

export interface FollowerOptions {
  readonly client: Client;
  readonly request: Request;
  readonly settings: BackendSettings;
  /** Default {@link SILENCE_MS}. */
  readonly silenceMs?: number | undefined;
  /** The objects are known, or cannot be had for now. */
  readonly onReady: () => void;
  /** The data of an object changed. */
  readonly onChange: () => void;
  readonly onNotice: WatchEvents["onNotice"];
}

export interface Follower {
  /** The objects as of now; undefined while they are not known. */
  objects(): readonly ConfigObject[] | undefined;
  /** Follows until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createFollower(options: FollowerOptions): Follower {
  const { client, request, settings, silenceMs = SILENCE_MS, onReady, onChange, onNotice } = options;
  const kind = request.resource === "secrets" ? SECRET : CONFIG_MAP;
  const chosen = selection(request);
  let objects: Map<string, ConfigObject> | undefined;
  /** The objects as they were when they were refused. */
  let refused: Map<string, ConfigObject> | undefined;
  let version = "";

  const keyOf = ({ metadata }: ConfigObject): string => `${metadata.namespace}/${metadata.name}`;
  /** Takes a version in; labels and the like are no change. */
  const put = (object: ConfigObject): boolean => {
    const known = objects?.get(keyOf(object));
    objects?.set(keyOf(object), dataOf(object));
    return known === undefined || !sameData(known, object);
  };
  const list = async (signal: AbortSignal): Promise<void> => {
    const { items, metadata } = await client.list(kind, { ...chosen, signal });
    const before = objects ?? refused;
    refused = undefined;
    objects = new Map(items.map((object) => [keyOf(object), dataOf(object)]));
    version = metadata.resourceVersion ?? "";
    if (before !== undefined && !sameObjects(before, objects)) onChange();
  };
  const watch = async (signal: AbortSignal): Promise<void> => {
    const silent = new AbortController();
    let answered = false;
    const silence = setTimeout(() => silent.abort(), silenceMs);
    try {
      const events = client.watch(kind, {
        ...chosen,
        resourceVersion: version,
        timeoutSeconds: WATCH_SECONDS,
        signal: AbortSignal.any([signal, silent.signal]),
        onBytes: () => {
          answered = true;
          silence.refresh();
        },
      });
      for await (const { type, object } of events) {
        if (type === "ERROR") throw errorOf(object);
        version = object.metadata.resourceVersion ?? version;
        if (type === "BOOKMARK") continue;
        const changed = type === "DELETED" ? (objects?.delete(keyOf(object)) ?? false) : put(object);
        if (changed) onChange();
      }
    } catch (error) {
      if (silent.signal.aborted && answered) return;
      throw error;
    } finally {
      clearTimeout(silence);
    }
  };
  return {
    objects: () => (objects === undefined ? undefined : [...objects.values()]),
    run: async (signal) => {
      let failures = 0;
      let told = "";
      while (!signal.aborted) {
        try {
          if (version === "") await list(signal);
          if (told !== "") onNotice("info", `kubernetes: ${request.resource} can be read again`);
          failures = 0;
          told = "";
          onReady();
          await watch(signal);
        } catch (error) {
          if (signal.aborted) return;
          const isGone = error instanceof ApiError && error.code === GONE;
          // After anything else than a lost connection the objects are listed anew.
          if (error instanceof ApiError) version = "";
          if (isGone) continue;
          failures += 1;
          if (error instanceof ApiError && error.code === 403) {
            refused = objects ?? refused;
            objects = undefined;
          }
          const { message } = refusal(request, error);
          if (message !== told) onNotice("error", message);
          told = message;
          onReady();
          const delay = backoffDelay(failures, settings.watchErrorBackoff, settings.watchErrorBackoffMax);
          await sleep(delay, undefined, { signal }).catch(() => {});
        }
      }
    },
  };
}

/** An error that came as an event. */
function errorOf(status: object): unknown {
  const {
    code = 0,
    message = "the watch failed",
    reason = "",
  } = status as { code?: number; message?: string; reason?: string };
  return new ApiError({
    code,
    message,
    reason,
    details: { causes: [] },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "GET",
    path: "",
  });
}

/** What is kept of an object. */
const dataOf = ({ apiVersion, kind, metadata, data, binaryData }: ConfigObject): ConfigObject => ({
  apiVersion,
  kind,
  metadata: {
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    ...(metadata.name !== undefined && { name: metadata.name }),
  },
  ...(data === undefined ? {} : { data }),
  ...(binaryData === undefined ? {} : { binaryData }),
});

const sameData = (a: ConfigObject, b: ConfigObject): boolean =>
  sameEntries(a.data, b.data) && sameEntries(a.binaryData, b.binaryData);

function sameEntries(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
  );
}

const sameObjects = (a: ReadonlyMap<string, ConfigObject>, b: ReadonlyMap<string, ConfigObject>): boolean =>
  a.size === b.size && [...b].every(([key, object]) => a.has(key) && sameData(a.get(key)!, object));
