/** Which kinds the server serves, read from `/api` and `/apis` when they are asked for. */
import type { Clock } from "../clock.ts";
import { apiVersionOf, groupOf, type Kind } from "../object.ts";
import { isNotFound, NoMatchError } from "./errors.ts";
import type { DiscoveredKind, Discovery } from "./types.ts";

/** Shortest time between two readings of a group version for the sake of an unknown kind. CORE-130. */
const REFRESH_MS = 10_000;

interface ApiResource {
  name: string;
  singularName?: string;
  namespaced: boolean;
  kind: string;
  verbs?: string[];
  shortNames?: string[];
}

interface GroupVersion {
  readAt: number;
  /** By kind. */
  kinds: ReadonlyMap<string, DiscoveredKind>;
}

/** `read` gets a discovery document; it rejects with a 404 `ApiError` for an unknown group version. */
export function createDiscovery(read: (path: string) => Promise<unknown>, clock: Clock): Discovery {
  const known = new Map<string, GroupVersion>();
  const running = new Map<string, Promise<GroupVersion>>();

  const fetchGroup = async (apiVersion: string): Promise<GroupVersion> => {
    let kinds: ReadonlyMap<string, DiscoveredKind> = new Map();
    try {
      const path = groupOf(apiVersion) === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
      const document = (await read(path)) as { resources?: ApiResource[] };
      kinds = kindsOf(apiVersion, document.resources ?? []);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const group = { readAt: clock.monotonic(), kinds };
    known.set(apiVersion, group);
    return group;
  };

  /** Callers at the same time share one reading. */
  const refresh = (apiVersion: string): Promise<GroupVersion> => {
    const current = running.get(apiVersion);
    if (current !== undefined) return current;
    const started = fetchGroup(apiVersion).finally(() => running.delete(apiVersion));
    running.set(apiVersion, started);
    return started;
  };

  return {
    async find(apiVersion, kind) {
      const group = known.get(apiVersion) ?? (await refresh(apiVersion));
      const found = group.kinds.get(kind);
      if (found !== undefined) return found;
      if (clock.monotonic() - group.readAt >= REFRESH_MS) {
        const again = (await refresh(apiVersion)).kinds.get(kind);
        if (again !== undefined) return again;
      }
      throw new NoMatchError(apiVersion, kind);
    },
    async serves(kind: Kind) {
      const group = await refresh(apiVersionOf(kind));
      return group.kinds.get(kind.kind)?.plural === kind.plural;
    },
    invalidate: () => known.clear(),
  };
}

function kindsOf(apiVersion: string, resources: readonly ApiResource[]): Map<string, DiscoveredKind> {
  const group = groupOf(apiVersion);
  const version = group === "" ? apiVersion : apiVersion.slice(group.length + 1);
  const subresources = new Map<string, string[]>();
  for (const { name } of resources) {
    const [plural = "", subresource] = name.split("/");
    if (subresource !== undefined)
      subresources.set(plural, [...(subresources.get(plural) ?? []), subresource]);
  }
  const kinds = new Map<string, DiscoveredKind>();
  for (const resource of resources) {
    if (resource.name.includes("/")) continue;
    kinds.set(resource.kind, {
      group,
      version,
      kind: resource.kind,
      plural: resource.name,
      namespaced: resource.namespaced,
      singular: resource.singularName ?? "",
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
      subresources: subresources.get(resource.name) ?? [],
    });
  }
  return kinds;
}
