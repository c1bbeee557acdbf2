/**
 * The three functions of the Reflect metadata proposal that `tsyringe`, below `@peculiar/x509`, needs at load time.
 * Import this file before `@peculiar/x509`. It does nothing where a complete polyfill is loaded already.
 */
interface ReflectMetadata {
  getMetadata?: (key: unknown, target: object) => unknown;
  getOwnMetadata?: (key: unknown, target: object) => unknown;
  defineMetadata?: (key: unknown, value: unknown, target: object) => void;
}

const reflect = Reflect as ReflectMetadata;

if (reflect.getMetadata === undefined) {
  const store = new WeakMap<object, Map<unknown, unknown>>();
  reflect.getOwnMetadata = (key, target) => store.get(target)?.get(key);
  reflect.getMetadata = (key, target) => {
    for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at)) {
      if (store.get(at)?.has(key)) return store.get(at)?.get(key);
    }
    return undefined;
  };
  reflect.defineMetadata = (key, value, target) => {
    store.set(target, (store.get(target) ?? new Map()).set(key, value));
  };
}
