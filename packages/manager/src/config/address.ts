/** Listen addresses: `:8080`, `127.0.0.1:0`, `[::1]:9000`; `0` switches the listener off. */

/** Where a server listens. */
export interface ListenAddress {
  /** Absent: every address of the machine. */
  readonly host?: string;
  /** 0 lets the system choose a free port. */
  readonly port: number;
}

/** Highest TCP port (RFC 9293). */
export const MAX_PORT: number = 65_535;

/** Address of a text, or `undefined` when it is `0`: do not listen at all. */
export function parseAddress(text: string): ListenAddress | undefined {
  const trimmed = text.trim();
  if (trimmed === "0") return undefined;
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(trimmed);
  const port = Number(match?.[3]);
  if (match === null || port > MAX_PORT) {
    throw new Error(
      `${JSON.stringify(text)} is not a listen address: write for example :8080, 127.0.0.1:0, or 0 for off`,
    );
  }
  const host = match[1] ?? match[2] ?? "";
  return host === "" ? { port } : { host, port };
}

/** Text form of an address, as {@link parseAddress} reads it. */
export function formatAddress(address: ListenAddress | undefined): string {
  if (address === undefined) return "0";
  const host = address.host ?? "";
  return `${host.includes(":") ? `[${host}]` : host}:${address.port}`;
}
