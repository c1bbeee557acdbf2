/** Decrypts OpenPGP messages. */
import { createDecipheriv, createHash } from "node:crypto";
import { inflateRawSync, inflateSync } from "node:zlib";
import { fieldsOf, OpenPgpError, type Packet, packetsOf, TAG } from "./packets.ts";
import type { SecretKey } from "./secret-keys.ts";

/** Text of one value at most, in bytes: as much as a rendered file may have. */
export const MAX_BYTES: number = 64 * 1024 * 1024;

interface Cipher {
  readonly name: string;
  readonly keyBytes: number;
  readonly blockBytes: number;
}
const CIPHERS: Readonly<Record<number, Cipher>> = {
  2: { name: "des-ede3-cfb", keyBytes: 24, blockBytes: 8 },
  7: { name: "aes-128-cfb", keyBytes: 16, blockBytes: 16 },
  8: { name: "aes-192-cfb", keyBytes: 24, blockBytes: 16 },
  9: { name: "aes-256-cfb", keyBytes: 32, blockBytes: 16 },
};
const ANY_KEY = "0000000000000000";

/** The text of a message for one of the keys; throws an {@link OpenPgpError}. */
export function decryptMessage(message: Buffer, keys: readonly SecretKey[]): Buffer {
  const packets = packetsOf(message);
  if (packets.length === 0) throw new OpenPgpError("the OpenPGP message is empty");
  const encrypted = packets.find(({ tag }) => tag === TAG.encrypted);
  if (encrypted === undefined) throw new OpenPgpError(withoutProtection(packets));
  const { cipher, key } = sessionKey(packets, keys);
  return literalOf(packetsOf(decrypted(encrypted.body, cipher, key)));
}

function withoutProtection(packets: readonly Packet[]): string {
  const has = (tag: number): boolean => packets.some((packet) => packet.tag === tag);
  if (has(TAG.encryptedAead))
    return "the message is encrypted in a way that OpenPGP keys of 2007 do not have (OCB)";
  return has(TAG.encryptedUnprotected)
    ? "the message has no protection against changes: encrypt it again"
    : "the OpenPGP message is not encrypted";
}

/** Finds the key of the message with the first key of ours that it is made for. */
function sessionKey(packets: readonly Packet[], keys: readonly SecretKey[]): { cipher: Cipher; key: Buffer } {
  const recipients: string[] = [];
  let problem: unknown;
  for (const { tag, body } of packets) {
    if (tag !== TAG.sessionKey) continue;
    const recipient = body.subarray(1, 9).toString("hex").toUpperCase();
    recipients.push(recipient);
    for (const { id, unlock } of keys) {
      if (id !== recipient && recipient !== ANY_KEY) continue;
      try {
        return split(unlock(fieldsOf(body.subarray(10))));
      } catch (error) {
        problem = error;
      }
    }
  }
  if (problem instanceof OpenPgpError && !recipients.includes(ANY_KEY)) throw problem;
  const names = recipients.map((id) => (id === ANY_KEY ? "a hidden one" : id)).join(", ");
  throw new OpenPgpError(
    `no key of the keyring opens the message; its keys are: ${names === "" ? "none" : names}`,
  );
}

/** Cipher, key and checksum of a block. */
function split(block: Buffer): { cipher: Cipher; key: Buffer } {
  const key = block.subarray(1, -2);
  const sum = key.reduce((total, byte) => (total + byte) & 0xffff, 0);
  if (block.length < 3 || block.readUInt16BE(block.length - 2) !== sum) {
    throw new OpenPgpError("the key of the message is damaged");
  }
  const id = block[0] ?? 0;
  const cipher = CIPHERS[id];
  if (cipher?.keyBytes !== key.length) {
    throw new OpenPgpError(`cipher ${id} of the message is not supported: encrypt it again with AES`);
  }
  return { cipher, key };
}

const DIGEST_BYTES = 20;

/** Decrypts, and checks that nothing was changed. */
function decrypted(body: Buffer, { name, blockBytes }: Cipher, key: Buffer): Buffer {
  if (body[0] !== 1) throw new OpenPgpError(`encrypted data of version ${body[0]} is not known`);
  const decipher = createDecipheriv(name, key, Buffer.alloc(blockBytes));
  const all = Buffer.concat([decipher.update(body.subarray(1)), decipher.final()]);
  const end = all.length - DIGEST_BYTES;
  const digest = createHash("sha1")
    .update(all.subarray(0, Math.max(0, end)))
    .digest();
  if (end < blockBytes + 4 || all.readUInt16BE(end - 2) !== 0xd314 || !digest.equals(all.subarray(end))) {
    throw new OpenPgpError("the message was changed or damaged");
  }
  return all.subarray(blockBytes + 2, end - 2);
}

const MAX_NESTING = 8;

function literalOf(packets: readonly Packet[], depth = 0): Buffer {
  for (const { tag, body } of packets) {
    if (tag === TAG.literal) {
      const fields = fieldsOf(body);
      fields.byte();
      fields.bytes(fields.byte());
      fields.bytes(4);
      return fields.rest();
    }
    if (tag === TAG.compressed && depth < MAX_NESTING) {
      return literalOf(packetsOf(inflated(body)), depth + 1);
    }
  }
  throw new OpenPgpError("the message holds no text");
}

function inflated(body: Buffer): Buffer {
  const options = { maxOutputLength: MAX_BYTES };
  const data = body.subarray(1);
  switch (body[0]) {
    case 0:
      return data;
    case 1:
      return inflateRawSync(data, options);
    case 2:
      return inflateSync(data, options);
    default:
      throw new OpenPgpError(`compression ${body[0]} of the message is not known`);
  }
}
