/** Values nested as deep as the JSON of a hostile author. */

/** That many maps (`{"a": {"a": …}}`) or lists in each other around the number 1; built without recursion. */
export function nested(levels: number, as: "map" | "list" = "map"): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = as === "map" ? { a: value } : [value];
  return value;
}
