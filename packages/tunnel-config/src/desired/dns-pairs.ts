/** Which of the records that an object has becomes which of those that it wants (TUN-926). */
import type { DnsRecord } from "../cloudflare/api.ts";
import { canBecome, type RecordFields } from "./dns-record.ts";

export interface Pair {
  readonly wanted: RecordFields;
  readonly previous?: DnsRecord;
}

/** Records that are as wanted keep their place; others are changed where they can be, and the rest is left over. */
export function pairs(
  wanted: readonly RecordFields[],
  had: readonly DnsRecord[],
): { readonly pairs: readonly Pair[]; readonly left: readonly DnsRecord[] } {
  const free = new Set(had);
  const taken = new Map<RecordFields, DnsRecord>();
  const match = (fits: (one: DnsRecord, wish: RecordFields) => boolean): void => {
    for (const wish of wanted) {
      if (taken.has(wish)) continue;
      const found = [...free].find((one) => fits(one, wish));
      if (found === undefined) continue;
      free.delete(found);
      taken.set(wish, found);
    }
  };
  match((one, { name, type, content }) => one.name === name && one.type === type && one.content === content);
  match((one, { type }) => canBecome(one.type, type));
  // A record of another type gives way to the new one.
  match(() => true);
  return {
    pairs: wanted.map((wish) => ({ wanted: wish, ...optional(taken.get(wish)) })),
    left: [...free],
  };
}

function optional(previous: DnsRecord | undefined): { previous?: DnsRecord } {
  return previous === undefined ? {} : { previous };
}
