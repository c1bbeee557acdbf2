/** Syntax of label keys and values (Kubernetes: apimachinery `validation`). */

/** Characters that a name and a value may have at most. */
const MAX_NAME = 63;
/** Characters of the DNS domain before the slash of a key. */
const MAX_PREFIX = 253;
const EDGE = /^[A-Za-z0-9]$/;
const NAME = /^[-A-Za-z0-9_.]+$/;
const DNS_LABEL_LENGTH = 63;
const DNS_LABEL = /^[-a-z0-9]+$/;
const DNS_EDGE = /^[a-z0-9]$/;

/** True for `name` and `example.com/name`. */
export function isLabelKey(key: string): boolean {
  const parts = key.split("/");
  if (parts.length > 2) return false;
  const [prefix, name] = parts.length === 2 ? parts : [undefined, parts[0]];
  return (prefix === undefined || isDnsDomain(prefix)) && name !== "" && isName(name!);
}

/** True for the empty text and for what is a name. */
export function isLabelValue(value: string): boolean {
  return value === "" || isName(value);
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text) && hasEdges(text, EDGE);
}

function isDnsDomain(text: string): boolean {
  return (
    text.length <= MAX_PREFIX &&
    text
      .split(".")
      .every((part) => part.length <= DNS_LABEL_LENGTH && DNS_LABEL.test(part) && hasEdges(part, DNS_EDGE))
  );
}

function hasEdges(text: string, edge: RegExp): boolean {
  return edge.test(text[0] ?? "") && edge.test(text.at(-1) ?? "");
}
