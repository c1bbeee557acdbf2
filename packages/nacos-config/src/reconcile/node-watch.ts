/**
 * Asks the nodes of resources that are well again and again. That costs the API server nothing; a resource is queued when
 * its nodes answer otherwise than they did, since a node can go DOWN while its pod stays Ready.
 */
import { type Clock, keyToString, type ObjectKey, type RawSource } from "@quartet/core";
import type { Health } from "../health/evaluate.ts";

/** Time between two looks at the nodes of a resource, in milliseconds: by chance, so that they spread out. */
const LOOK_MS = { least: 12_000, most: 20_000 } as const;

/** Asks all nodes. */
export type Look = (signal: AbortSignal) => Promise<Health>;

export interface NodeWatch {
  /** Looks from now on, and queues the resource once when what it finds is not what is known. */
  follow(resource: ObjectKey, known: Health, look: Look): void;
  /** Ends it, as each pass does before it asks by itself. */
  forget(resource: ObjectKey): void;
  /** By which resources are queued; its end ends all looks. */
  readonly source: RawSource;
}

export function createNodeWatch(clock: Clock, random: () => number = Math.random): NodeWatch {
  const followed = new Map<string, AbortController>();
  let enqueue: (resource: ObjectKey) => void = () => {};
  const forget = (resource: ObjectKey): void => {
    const name = keyToString(resource);
    followed.get(name)?.abort();
    followed.delete(name);
  };
  return {
    follow(resource, known, look) {
      forget(resource);
      const controller = new AbortController();
      followed.set(keyToString(resource), controller);
      const { signal } = controller;
      const verdict = textOf(known);
      const changed = async (): Promise<boolean> => {
        try {
          return textOf(await look(signal)) !== verdict;
        } catch {
          // The pass meets the same, and tells it.
          return true;
        }
      };
      const wait = (): void => {
        const ms = LOOK_MS.least + random() * (LOOK_MS.most - LOOK_MS.least);
        const cancel = clock.setTimer(
          ms,
          () => {
            signal.removeEventListener("abort", cancel);
            void changed().then((news) => {
              if (signal.aborted) return;
              if (news) enqueue(resource);
              else wait();
            });
          },
          { unref: true },
        );
        signal.addEventListener("abort", cancel, { once: true });
      };
      wait();
    },
    forget,
    source: {
      name: "nacos-nodes",
      start(add, signal) {
        enqueue = (resource) => add(resource);
        signal.addEventListener(
          "abort",
          () => {
            for (const controller of followed.values()) controller.abort();
            followed.clear();
          },
          { once: true },
        );
      },
    },
  };
}

/** Everything of a verdict that the status depends on. */
function textOf(health: Health): string {
  const versions = health.state === "passed" ? [...health.versions] : [];
  return JSON.stringify([health, versions]);
}
