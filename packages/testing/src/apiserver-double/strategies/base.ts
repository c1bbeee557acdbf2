/** The common ground of all strategies. */
import type { Strategy } from "../registry.ts";

/** A strategy without peculiarities, with the given ones on top. */
export function strategy(own: Partial<Strategy> = {}): Strategy {
  return { status: false, generation: "none", name: "subdomain", unconditionalUpdate: true, ...own };
}
