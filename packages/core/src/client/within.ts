/** A client whose requests all end with a signal. */
import type { Client, RequestOptions } from "./types.ts";

/** The client with every request bound to `signal`, beside the signal that a call may give itself. */
export function within(client: Client, signal: AbortSignal): Client {
  const bound = <O extends RequestOptions>(options: O | undefined): O => {
    const own = options?.signal;
    return { ...options, signal: own === undefined ? signal : AbortSignal.any([own, signal]) } as O;
  };
  return {
    ...client,
    get: (kind, key, options) => client.get(kind, key, bound(options)),
    list: (kind, options) => client.list(kind, bound(options)),
    pages: (kind, options) => client.pages(kind, bound(options)),
    watch: (kind, options) => client.watch(kind, bound(options)),
    create: (kind, object, options) => client.create(kind, object, bound(options)),
    update: (kind, object, options) => client.update(kind, object, bound(options)),
    updateStatus: (kind, object, options) => client.updateStatus(kind, object, bound(options)),
    patch: (kind, key, patch, options) => client.patch(kind, key, patch, bound(options)),
    patchStatus: (kind, current, next, options) => client.patchStatus(kind, current, next, bound(options)),
    apply: (kind, object, options) => client.apply(kind, object, bound(options)),
    applyOwned: (kind, object, options) => client.applyOwned(kind, object, bound(options)),
    delete: (kind, key, options) => client.delete(kind, key, bound(options)),
    deleteIfExists: (kind, key, options) => client.deleteIfExists(kind, key, bound(options)),
    deleteCollection: (kind, options) => client.deleteCollection(kind, bound(options)),
    evict: (pod, options) => client.evict(pod, bound(options)),
    getSubresource: (kind, key, subresource, options) =>
      client.getSubresource(kind, key, subresource, bound(options)),
    raw: (method, path, body, options) => client.raw(method, path, body, bound(options)),
    forController: (name, hooks) => within(client.forController(name, hooks), signal),
  };
}
