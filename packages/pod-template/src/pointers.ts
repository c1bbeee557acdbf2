/** Which fields tell absent from false, 0, the empty text and the empty object: those that are pointers in the server. */
import type { TypeName } from "@quartet/strategic-merge";
import { POINTER_FIELDS } from "./pointers.gen.ts";

const POINTERS: ReadonlyMap<TypeName, ReadonlySet<string>> = new Map(
  POINTER_FIELDS.map((line) => {
    const [type, ...fields] = line.split(" ");
    return [type!, new Set(fields)];
  }),
);

export function isPointer(type: TypeName, field: string): boolean {
  return POINTERS.get(type)?.has(field) === true;
}
