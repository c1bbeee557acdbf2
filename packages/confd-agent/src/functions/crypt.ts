/** The functions for encrypted values: those of the store, with each value decrypted. */
import { type GoFunction, STRING, STRINGS, slice, string } from "@quartet/go-template";
import { compareBytes, found, KV_PAIRS, kvPair, type Store } from "./store.ts";

/** Functions by their names in templates; `decrypt` takes and gives byte strings. */
export function cryptFunctions(
  store: Store,
  decrypt: (value: string) => string,
): Readonly<Record<string, GoFunction>> {
  const of = (call: (text: string) => ReturnType<GoFunction["call"]>): GoFunction => ({
    parameters: [STRING],
    call: ([text]) => call(text?.data as string),
  });
  return {
    cget: of((key) => kvPair(key, decrypt(found(store, key)))),
    cgetv: of((key) => string(decrypt(found(store, key)))),
    cgets: of((pattern) =>
      slice(
        KV_PAIRS,
        store.match(pattern).map(([key, value]) => kvPair(key, decrypt(value))),
        "appended",
      ),
    ),
    cgetvs: of((pattern) => {
      const values = store.match(pattern).map(([, value]) => decrypt(value));
      return slice(STRINGS, values.sort(compareBytes).map(string), "appended");
    }),
  };
}
