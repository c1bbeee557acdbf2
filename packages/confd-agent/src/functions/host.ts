/** Functions that ask the host: environment, files, clock, names. */
import {
  bool,
  bytesOf,
  type GoFunction,
  STRING,
  STRINGS,
  slice,
  string,
  struct,
  type Type,
  textOf,
  UINT16,
  type Value,
} from "@quartet/go-template";
import { localTime } from "./time.ts";

/** A service record of the DNS. */
export interface ServiceRecord {
  readonly target: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** What templates can learn of the host; answers of name servers are looked up before. */
export interface Host {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** False only when the file is not found. */
  readonly fileExists: (path: string) => boolean;
  /** Nanoseconds since 1970; the same during one wave. */
  readonly now: bigint;
  readonly hostname: string;
  /** First address of a network interface, empty when it has none. */
  readonly interfaceAddress: (name: string, family: 4 | 6) => string;
  /** Addresses of a name; empty when there are none. */
  readonly addresses: (name: string) => readonly string[];
  readonly services: (name: string) => readonly ServiceRecord[];
}

export const SRV: Type = {
  kind: "struct",
  name: "net.SRV",
  fields: ["Target", "Port", "Priority", "Weight"],
};
const SRVS: Type = { kind: "slice", name: "[]net.SRV", element: SRV };

const text = (value: Value | undefined): string => textOf(value?.data as string);
const uint16 = (data: number): Value => ({ kind: "uint16", type: UINT16, data: BigInt(data) });
const onText = (call: (argument: string) => Value): GoFunction => ({
  parameters: [STRING],
  call: ([argument]) => call(text(argument)),
});
const strings = (values: readonly string[]): Value =>
  values.length === 0 ? slice(STRINGS, undefined) : slice(STRINGS, values.map(bytesOf).sort().map(string));
const sortText = ({ target, port, priority, weight }: ServiceRecord): string =>
  `${target}${port}${priority}${weight}`;

/** By their names in templates. */
export function hostFunctions(host: Host): Readonly<Record<string, GoFunction>> {
  return {
    getenv: {
      parameters: [STRING, STRING],
      variadic: true,
      call: ([name, fallback]) => {
        const value = host.environment[text(name)] ?? "";
        return value === "" ? (fallback ?? string("")) : string(bytesOf(value));
      },
    },
    datetime: { parameters: [], call: () => localTime(host.now) },
    fileExists: onText((path) => bool(host.fileExists(path))),
    hostname: { parameters: [], call: () => string(bytesOf(host.hostname)) },
    lookupIfaceIPV4: onText((name) => string(bytesOf(host.interfaceAddress(name, 4)))),
    lookupIfaceIPV6: onText((name) => string(bytesOf(host.interfaceAddress(name, 6)))),
    lookupIP: onText((name) => strings(host.addresses(name))),
    lookupIPV4: onText((name) => strings(host.addresses(name).filter((address) => address.includes(".")))),
    lookupIPV6: onText((name) => strings(host.addresses(name).filter((address) => address.includes(":")))),
    lookupSRV: {
      parameters: [STRING, STRING, STRING],
      call: ([service, protocol, name]) =>
        slice(SRVS, services(host, text(service), text(protocol), text(name))),
    },
  };
}

function services(host: Host, service: string, protocol: string, name: string): Value[] {
  const queried = service === "" && protocol === "" ? name : `_${service}._${protocol}.${name}`;
  return host
    .services(queried)
    .toSorted((a, b) => (sortText(a) < sortText(b) ? -1 : sortText(a) > sortText(b) ? 1 : 0))
    .map(({ target, port, priority, weight }) =>
      struct(SRV, [string(bytesOf(target)), uint16(port), uint16(priority), uint16(weight)]),
    );
}
