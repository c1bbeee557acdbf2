/** Name and value of an entry such as `tars=debug`; the value is absent without an equals sign. */
export function splitPair(entry: string): [name: string, value: string | undefined] {
  const at = entry.indexOf("=");
  return at < 0 ? [entry.trim(), undefined] : [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
}
