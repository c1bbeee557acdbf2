/** The key-value store of Consul as a source, followed by its blocking queries. */
import { bytesOf } from "@quartet/go-template";
import type { BackendSettings, Environment } from "../../config/settings.ts";
import { BackendError } from "../../errors.ts";
import { type Backend, belongs, type Snapshot } from "../backend.ts";
import { createHttpNodes, encodePath, type HttpAnswer } from "../http.ts";
import { changedKeys, type Pair, pairsOf } from "./pairs.ts";

/** How long the server holds a query that nothing changes for; it adds up to a sixteenth. */
const WAIT = "5m";
const NOT_FOUND = 404;
const FORBIDDEN = 403;

interface Range {
  /** Position of the newest change below the range's prefix. */
  readonly index: number;
  readonly pairs: ReadonlyMap<string, Pair>;
}

export function createConsulBackend(settings: BackendSettings, environment: Environment): Backend {
  const nodes = createHttpNodes(settings);
  const token = settings.authToken || environment.CONSUL_HTTP_TOKEN || "";
  const headers: Record<string, string> = {
    ...(token === "" ? {} : { "x-consul-token": token }),
    ...(settings.username === ""
      ? {}
      : {
          authorization: `Basic ${Buffer.from(`${settings.username}:${settings.password}`).toString("base64")}`,
        }),
  };
  /** A range as it is, or as it is once its index is another. */
  const ask = async (range: string, index: number, signal: AbortSignal): Promise<Range> => {
    const wait = index === 0 ? "" : `&index=${index}&wait=${WAIT}`;
    const path = `/v1/kv/${encodePath(range.slice(1))}?recurse=${wait}`;
    const answer = await nodes.ask({ path, headers, signal });
    if (answer.status !== 200 && answer.status !== NOT_FOUND) throw refused(range, answer);
    const pairs = answer.status === NOT_FOUND ? [] : pairsOf(answer.text);
    return {
      index: Number(answer.header("x-consul-index")) || 0,
      // The server goes by the beginning of keys: `foobar` begins with `foo`.
      pairs: new Map(pairs.filter(({ key }) => belongs(key, range)).map((pair) => [pair.key, pair])),
    };
  };
  const follow = async (
    range: string,
    onFirst: () => void,
    onChange: (keys: readonly string[]) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    let known = await ask(range, 0, signal);
    onFirst();
    while (!signal.aborted) {
      const next = await ask(range, known.index, signal);
      const changed = changedKeys(known.pairs, next.pairs);
      // An index that goes back is that of a store that was restored; one that is missing would ask without pause.
      if (next.index < 1) throw new BackendError("consul: the answer has no X-Consul-Index");
      if (changed.length > 0) onChange(changed);
      known = next.index < known.index ? { ...next, index: 0 } : next;
    }
  };
  return {
    label: `consul ${settings.nodes.join(", ")}`,
    read: async (ranges, { signal }): Promise<Snapshot> => {
      const all = await Promise.all(ranges.map((range) => ask(range, 0, signal)));
      return {
        values: new Map(
          all.flatMap(({ pairs }) => [...pairs.values()].map(({ key, value }) => [key, value] as const)),
        ),
      };
    },
    watch: async (ranges, events, signal) => {
      const stop = new AbortController();
      const either = AbortSignal.any([stop.signal, signal]);
      let waiting = ranges.length;
      const first = (): void => {
        waiting -= 1;
        if (waiting === 0) events.onReady({ resumed: false });
      };
      try {
        await Promise.all(
          ranges.map((range) => follow(range, first, (keys) => events.onChange({ keys }), either)),
        );
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        stop.abort();
      }
    },
    health: async (signal) => {
      const answer = await nodes.ask({ path: "/v1/status/leader", headers, signal });
      if (answer.status !== 200 || answer.text === '""')
        throw new BackendError("consul: the cluster has no leader");
    },
    close: async () => nodes.close(),
  };
}

function refused(range: string, { status, text }: HttpAnswer): BackendError {
  const said = text.trim().slice(0, 200);
  return status === FORBIDDEN
    ? new BackendError(`permission denied for ${range}: ${said}`, { onlyThisRange: true })
    : new BackendError(`consul: HTTP ${status} for ${bytesOf(range)}: ${said}`);
}
