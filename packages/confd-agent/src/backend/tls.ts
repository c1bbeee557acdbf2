/** Certificates of connections, read from their files each time one is made. */
import { readFileSync } from "node:fs";
import type { BackendSettings } from "../config/settings.ts";
import { BackendError, codeOf, messageOf } from "../errors.ts";

export interface TlsFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Reads the files that the settings name; throws when one cannot be read or the CA holds no certificate. */
export function readTlsFiles({ clientCaKeys, clientCert, clientKey }: BackendSettings): TlsFiles {
  const ca = read("client-ca-keys", clientCaKeys);
  if (ca !== undefined && !ca.includes("-----BEGIN CERTIFICATE-----")) {
    throw new BackendError(`client-ca-keys ${clientCaKeys}: holds no certificate in PEM`);
  }
  const cert = read("client-cert", clientCert);
  const key = read("client-key", clientKey);
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

function read(setting: string, file: string): Buffer | undefined {
  if (file === "") return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new BackendError(`${setting} ${file}: ${codeOf(error) ?? messageOf(error)}`);
  }
}
