/** Networks in CIDR notation (TUN-931). */
import { isIPv4, isIPv6 } from "node:net";

const BITS = { v4: 32, v6: 128 } as const;

/**
 * The network in its canonical form: host bits zero, IPv6 as RFC 5952 writes it. Nothing when the text is no network; an
 * address with host bits set is taken for its network.
 */
export function canonicalNetwork(text: string): string | undefined {
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return undefined;
  const family = isIPv4(address) ? "v4" : isIPv6(address) ? "v6" : undefined;
  if (family === undefined || Number(length) > BITS[family]) return undefined;
  const bits = BITS[family];
  const hosts = BigInt(bits - Number(length));
  const value = ((family === "v4" ? valueOfV4(address) : valueOfV6(address)) >> hosts) << hosts;
  return `${family === "v4" ? textOfV4(value) : textOfV6(value)}/${Number(length)}`;
}

/** What is wrong with a network, with its remedy, or nothing. */
export function networkProblem(text: string): string | undefined {
  const canonical = canonicalNetwork(text);
  if (canonical === undefined)
    return `spec.network: ${text} is no network in CIDR notation, such as 10.0.0.0/8`;
  // An IPv6 network may be written in more than one way.
  const same = canonicalNetwork(`${text.split("/")[0]}/${text.includes(":") ? BITS.v6 : BITS.v4}`);
  const base = `${canonical.split("/")[0]}/`;
  return same?.startsWith(base)
    ? undefined
    : `spec.network: ${text} has bits set beyond its prefix; write ${canonical}`;
}

function valueOfV4(address: string): bigint {
  return address.split(".").reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function textOfV4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
}

function valueOfV6(address: string): bigint {
  const tail = /^\d+\.\d+\.\d+\.\d+$/.exec(address.slice(address.lastIndexOf(":") + 1))?.[0];
  const plain =
    tail === undefined
      ? address
      : address.slice(0, -tail.length) +
        [valueOfV4(tail) >> 16n, valueOfV4(tail) & 0xffffn].map((part) => part.toString(16)).join(":");
  const [head = "", rest] = plain.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const after = groups(rest ?? "");
  const before = groups(head);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].reduce((value, part) => value * 65_536n + BigInt(`0x${part}`), 0n);
}

/** The longest run of zero groups is left out. */
function textOfV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  let best = { at: 0, length: 1 };
  for (let at = 0; at < 8; at += 1) {
    const end = groups.findIndex((group, index) => index >= at && group !== "0");
    const length = (end < 0 ? 8 : end) - at;
    if (length > best.length) best = { at, length };
  }
  if (best.length === 1) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}
