/** Pages of a list. */
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";

/** Page sizes: what is given out when none is asked for, and the most. */
export interface PageSizes {
  readonly usual: number;
  readonly most: number;
}

export const SMALL_PAGES: PageSizes = { usual: 20, most: 50 };
export const LARGE_PAGES: PageSizes = { usual: 20, most: 1000 };
export const RECORD_PAGES: PageSizes = { usual: 100, most: 5_000_000 };

/** The page that the query asks for. */
export function pageOf(
  items: readonly unknown[],
  query: URLSearchParams,
  sizes: PageSizes,
): CloudflareAnswer {
  const page = numberOf(query, "page", 1, Number.MAX_SAFE_INTEGER);
  const perPage = numberOf(query, "per_page", sizes.usual, sizes.most);
  const result = items.slice((page - 1) * perPage, page * perPage);
  return success(result, {
    page,
    per_page: perPage,
    count: result.length,
    total_count: items.length,
    total_pages: Math.ceil(items.length / perPage),
  });
}

function numberOf(query: URLSearchParams, name: string, usual: number, most: number): number {
  const text = query.get(name);
  if (text === null) return usual;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new CloudflareRefusal(400, 1003, `Invalid ${name} ${text}: between 1 and ${most}`);
}
