/** Lists over all their pages (TUN-1103). */
import type { ApiCall, ApiClient } from "./client.ts";

/** Pages that are read of one list; more means that the server never ends. */
const MAX_PAGES = 500;

export class ListError extends Error {
  override readonly name = "ListError";
}

/** All items of a list. An answer without page information is the only page. */
export async function listAll<T>(
  client: ApiClient,
  call: Omit<ApiCall, "method">,
  perPage: number,
): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { ...call.query, page, per_page: perPage };
    const { result, result_info: info } = await client.call({ ...call, method: "GET", query });
    const found = Array.isArray(result) ? (result as T[]) : [];
    items.push(...found);
    if (info === undefined || found.length === 0) return items;
    if (
      info.total_count !== undefined
        ? items.length >= info.total_count
        : found.length < (info.per_page ?? perPage)
    ) {
      return items;
    }
  }
  throw new ListError(`GET ${call.path}: the list does not end after ${MAX_PAGES} pages`);
}
