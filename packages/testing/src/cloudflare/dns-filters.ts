/** Filters of the list of DNS records. */
import type { Fields } from "./state.ts";

type Test = (record: Fields) => boolean;

const COMPARE: Readonly<Record<string, (held: string, wanted: string) => boolean>> = {
  exact: (held, wanted) => held === wanted,
  contains: (held, wanted) => held.includes(wanted),
  startswith: (held, wanted) => held.startsWith(wanted),
  endswith: (held, wanted) => held.endsWith(wanted),
};

/** Members that can be asked for by `.exact`, `.contains` and so on; without a suffix it means `exact`. */
const TEXTS = ["name", "content", "comment"] as const;

/** The records that fit the query, in its order. */
export function filterRecords(records: Iterable<Fields>, query: URLSearchParams): Fields[] {
  const tests = [...query].flatMap(([key, value]) => testOf(key, value) ?? []);
  const any = query.get("match") === "any";
  const fits = (record: Fields): boolean =>
    tests.length === 0 || (any ? tests.some((test) => test(record)) : tests.every((test) => test(record)));
  const found = [...records].filter(fits);
  const order = query.get("order");
  if (order === null) return found;
  const sign = query.get("direction") === "desc" ? -1 : 1;
  return found.sort((a, b) => sign * String(a[order] ?? "").localeCompare(String(b[order] ?? "")));
}

function testOf(key: string, value: string): Test | undefined {
  if (key === "type") return (record) => record.type === value;
  if (key === "proxied") return (record) => record.proxied === (value === "true");
  if (key === "tag")
    return (record) => (record.tags as string[]).some((tag) => tag === value || tag.startsWith(`${value}:`));
  if (key === "comment.present") return (record) => typeof record.comment === "string";
  if (key === "comment.absent") return (record) => typeof record.comment !== "string";
  const [field = "", how = "exact"] = key.split(".");
  const compare = COMPARE[how];
  if (compare === undefined || !TEXTS.some((text) => text === field)) return undefined;
  const wanted = value.toLowerCase();
  return (record) => typeof record[field] === "string" && compare(record[field].toLowerCase(), wanted);
}
