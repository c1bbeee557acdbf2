/** Comparing what two trials left behind. */
import { sameJson } from "../client/merge-diff.ts";

/** What servers and clocks set, by the field that it stands in: it differs from trial to trial. */
const VOLATILE: Readonly<Record<string, readonly string[]>> = {
  metadata: ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"],
  ownerReferences: ["uid"],
  status: ["observedGeneration"],
  conditions: ["observedGeneration", "lastTransitionTime"],
};

/** Stands for the time of a deletion: that it has begun is a state, when it did is none. */
const DELETING = "set";

/** The value without uids, versions, generations and times of Kubernetes objects in it. */
export function withoutVolatile(value: unknown, within = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutVolatile(item, within));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !VOLATILE[within]?.includes(name));
  const stable = ([name, member]: [string, unknown]): [string, unknown] =>
    within === "metadata" && name === "deletionTimestamp"
      ? [name, DELETING]
      : [name, withoutVolatile(member, name)];
  return Object.fromEntries(kept.map(stable));
}

/** The first place in which two values differ, with both values; `undefined` when they are equal. */
export function firstDifference(expected: unknown, actual: unknown, path = ""): string | undefined {
  if (sameJson(expected, actual)) return undefined;
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const inside = firstDifference(expected[name], actual[name], `${path}/${name}`);
      if (inside !== undefined) return inside;
    }
  }
  return `${path || "/"}: expected ${text(expected)}, found ${text(actual)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

const text = (value: unknown): string => JSON.stringify(value) ?? "nothing";
