/** A client whose requests all end with a signal. */
import type { TokenBucket } from "../token-bucket.ts";
import type { Client, RequestOptions } from "./types.ts";

/**
 * The client with every request bound to `signal`, beside the signal that a call may give itself.
 * @param limiter what each of them but lists by page and watches waits for
 */
export function within(client: Client, signal: AbortSignal, limiter?: TokenBucket): Client {
  const send = async <T>(request: () => Promise<T>): Promise<T> => {
    await limiter?.take(signal);
    return request();
  };
  const bound = <O extends RequestOptions>(options: O | undefined): O => {
    const own = options?.signal;
    return { ...options, signal: own === undefined ? signal : AbortSignal.any([own, signal]) } as O;
  };
  return {
    ...client,
    get: (kind, key, options) => send(() => client.get(kind, key, bound(options))),
    list: (kind, options) => send(() => client.list(kind, bound(options))),
    pages: (kind, options) => client.pages(kind, bound(options)),
    watch: (kind, options) => client.watch(kind, bound(options)),
    create: (kind, object, options) => send(() => client.create(kind, object, bound(options))),
    update: (kind, object, options) => send(() => client.update(kind, object, bound(options))),
    updateStatus: (kind, object, options) => send(() => client.updateStatus(kind, object, bound(options))),
    patch: (kind, key, patch, options) => send(() => client.patch(kind, key, patch, bound(options))),
    patchStatus: (kind, current, next, options) =>
      send(() => client.patchStatus(kind, current, next, bound(options))),
    apply: (kind, object, options) => send(() => client.apply(kind, object, bound(options))),
    applyOwned: (kind, object, options) => send(() => client.applyOwned(kind, object, bound(options))),
    delete: (kind, key, options) => send(() => client.delete(kind, key, bound(options))),
    deleteIfExists: (kind, key, options) => send(() => client.deleteIfExists(kind, key, bound(options))),
    deleteCollection: (kind, options) => send(() => client.deleteCollection(kind, bound(options))),
    evict: (pod, options) => send(() => client.evict(pod, bound(options))),
    getSubresource: (kind, key, subresource, options) =>
      send(() => client.getSubresource(kind, key, subresource, bound(options))),
    raw: (method, path, body, options) => send(() => client.raw(method, path, body, bound(options))),
    forController: (name, hooks) => within(client.forController(name, hooks), signal, limiter),
  };
}
