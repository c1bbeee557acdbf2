/** Which servers the operator may be sent to by a resource (`--nacos-postgres-hosts`). */
import { BlockList, isIP } from "node:net";

/** Addresses of the operator's own machine and of its link: nobody else's database is there. */
const LOCAL: readonly (readonly [string, number, "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["::", 128, "ipv6"],
  ["::1", 128, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
];
const MAX_PORT = 65_535;

export interface HostRules {
  /** Whether a connection may be begun: the host as it stands in the spec, a name or an address. */
  mayAsk(host: string, port: number): boolean;
  /** Whether the address that the host has come to may be connected to. */
  mayReach(host: string, address: string, port: number): boolean;
}

interface Entry {
  readonly port: number | undefined;
  readonly name?: string;
  readonly addresses?: BlockList;
}

/**
 * Rules by the flag's text: entries `host`, `*.domain`, address or CIDR, each with `:port` or without, separated by
 * commas. Without entries everything may be reached but loopback, link-local, multicast and unspecified addresses;
 * with some, only what one of them names, and local addresses only by an address or CIDR.
 * @throws Error that names the entry
 */
export function hostRules(text: string): HostRules {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map(entryOf);
  const local = new BlockList();
  for (const subnet of LOCAL) local.addSubnet(...subnet);
  const byName = (host: string, port: number): boolean =>
    entries.some((entry) => entry.name !== undefined && fits(entry, port) && matches(entry.name, host));
  const byAddress = (address: string, port: number): boolean =>
    entries.some(
      (entry) => entry.addresses !== undefined && fits(entry, port) && holds(entry.addresses, address),
    );
  return {
    mayAsk(host, port) {
      if (isIP(host) !== 0 || entries.length === 0) return true;
      // Its address is looked up for those that are given by address.
      return (
        byName(host, port) || entries.some((entry) => entry.addresses !== undefined && fits(entry, port))
      );
    },
    mayReach(host, address, port) {
      if (byAddress(address, port)) return true;
      return !holds(local, address) && (entries.length === 0 || byName(host, port));
    },
  };
}

const fits = ({ port }: Entry, asked: number): boolean => port === undefined || port === asked;

function holds(addresses: BlockList, address: string): boolean {
  return addresses.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function matches(pattern: string, host: string): boolean {
  const name = plain(host);
  return pattern.startsWith("*.") ? name.endsWith(pattern.slice(1)) : name === pattern;
}

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, "");

function entryOf(text: string): Entry {
  const { host, port } = split(text);
  const fail = (problem: string): never => {
    throw new Error(
      `--nacos-postgres-hosts: "${text}" ${problem}; give a host, *.domain, address or CIDR, with :port or without`,
    );
  };
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > MAX_PORT)) {
    return fail("has no port from 1 to 65535");
  }
  const number = port === undefined ? undefined : Number(port);
  const [address = "", bits] = host.split("/");
  const family = isIP(address);
  if (family === 0) {
    if (!/^(\*\.)?[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?$/u.test(host)) return fail("names no host");
    return { port: number, name: plain(host) };
  }
  const whole = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? whole : Number(bits);
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > whole) return fail("has no such prefix");
  const addresses = new BlockList();
  addresses.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
  return { port: number, addresses };
}

/** `host`, `host:port`, `[v6]`, `[v6]:port`, and a bare IPv6 address. */
function split(text: string): { host: string; port?: string } {
  const bracket = text.startsWith("[") ? text.indexOf("]") : -1;
  if (bracket !== -1) {
    const rest = text.slice(bracket + 1);
    const host = text.slice(1, bracket);
    if (rest.startsWith("/")) {
      const [prefix = "", port] = rest.split(":");
      return { host: `${host}${prefix}`, ...(port !== undefined && { port }) };
    }
    return { host, ...(rest !== "" && { port: rest.replace(/^:/, "") }) };
  }
  const colon = text.indexOf(":");
  if (colon === -1 || text.includes(":", colon + 1)) return { host: text };
  return { host: text.slice(0, colon), port: text.slice(colon + 1) };
}
