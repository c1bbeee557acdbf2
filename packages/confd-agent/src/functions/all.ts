/** All functions that the templates of confd have. */
import type { GoFunction } from "@quartet/go-template";
import { CONFD_FUNCTIONS } from "./confd.ts";
import { type Host, hostFunctions } from "./host.ts";
import { MORE_FUNCTIONS } from "./more.ts";
import { type Store, storeFunctions } from "./store.ts";

export function templateFunctions(store: Store, host: Host): Readonly<Record<string, GoFunction>> {
  return { ...MORE_FUNCTIONS, ...CONFD_FUNCTIONS, ...hostFunctions(host), ...storeFunctions(store) };
}
