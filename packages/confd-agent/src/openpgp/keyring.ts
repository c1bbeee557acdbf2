/** The keyring for encrypted values: base64 of an OpenPGP message of a gzip of the text. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { bytesOf, CallError } from "@quartet/go-template";
import { ConfigError, codeOf, messageOf } from "../errors.ts";
import { decodeBase64 } from "../functions/text.ts";
import { decryptMessage, MAX_BYTES } from "./message.ts";
import { dearmor, packetsOf } from "./packets.ts";
import { type SecretKey, secretKeysOf, type UnusableKey } from "./secret-keys.ts";

/** Decrypts a value (byte strings); throws a {@link CallError} with the step that failed. */
export type Decrypt = (value: string) => string;

/** Reads the keys of a file; throws a {@link ConfigError} when none of them can decrypt. */
export function loadKeyring(file: string): Decrypt {
  const where = `secret-keyring ${file}`;
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (error) {
    throw new ConfigError(`${where}: cannot be read: ${codeOf(error) ?? messageOf(error)}`);
  }
  const keys = usableKeys(where, dearmor(text, "PGP PRIVATE KEY BLOCK"));
  return (value) => decryptValue(value, keys);
}

function usableKeys(where: string, blocks: readonly Buffer[]): SecretKey[] {
  const keys: SecretKey[] = [];
  const unusable: UnusableKey[] = [];
  try {
    for (const block of blocks) {
      const found = secretKeysOf(packetsOf(block));
      keys.push(...found.keys);
      unusable.push(...found.unusable);
    }
  } catch (error) {
    throw new ConfigError(`${where}: ${messageOf(error)}`);
  }
  if (keys.length > 0) return keys;
  const reasons = unusable.map(({ id, problem }) => `; key ${id}: ${problem}`).join("");
  throw new ConfigError(
    `${where}: no secret key in it can decrypt${reasons}; export one without passphrase: gpg --armor --export-secret-keys`,
  );
}

function decryptValue(value: string, keys: readonly SecretKey[]): string {
  const encrypted = Buffer.from(decodeBase64(value), "latin1");
  try {
    return gunzipSync(decryptMessage(encrypted, keys), { maxOutputLength: MAX_BYTES }).toString("latin1");
  } catch (error) {
    const problem = bytesOf(problemOf(error));
    throw new CallError(problem, problem);
  }
}

const problemOf = (error: unknown): string =>
  codeOf(error)?.startsWith("Z_") === true || codeOf(error)?.startsWith("ERR_BUFFER") === true
    ? `gzip: ${messageOf(error)}`
    : messageOf(error);
