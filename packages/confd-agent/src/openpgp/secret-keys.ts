/** Secret keys of OpenPGP, and how each decrypts the key of a message. */
import {
  constants,
  createDecipheriv,
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  privateDecrypt,
} from "node:crypto";
import { type Fields, fieldsOf, OpenPgpError, type Packet, TAG } from "./packets.ts";

/** What a key can do with a packet that holds the encrypted key of a message: give its block, still with padding off. */
type Unlock = (fields: Fields) => Buffer;

export interface SecretKey {
  /** The last eight bytes of its fingerprint, in hex. */
  readonly id: string;
  readonly unlock: Unlock;
}

/** A key packet that cannot be used, and why. */
export interface UnusableKey {
  readonly id: string;
  readonly problem: string;
}

const RSA: readonly number[] = [1, 2];
const ELGAMAL = 16;
const ECDH = 18;

/** The keys that can decrypt, and those that are of no use though they are made for it. */
export function secretKeysOf(packets: readonly Packet[]): { keys: SecretKey[]; unusable: UnusableKey[] } {
  const keys: SecretKey[] = [];
  const unusable: UnusableKey[] = [];
  for (const { tag, body } of packets) {
    if (tag !== TAG.secretKey && tag !== TAG.secretSubkey) continue;
    const fields = fieldsOf(body);
    const version = fields.byte();
    if (version !== 4) {
      unusable.push({ id: "?", problem: `it is of version ${version}, 4 is known` });
      continue;
    }
    fields.bytes(4);
    const algorithm = fields.byte();
    const read = READERS.find(({ algorithms }) => algorithms.includes(algorithm))?.read;
    // Keys that only sign.
    if (read === undefined) continue;
    const secret = read(fields);
    const fingerprint = fingerprintOf(body.subarray(0, fields.position()));
    const id = fingerprint.subarray(-8).toString("hex").toUpperCase();
    if (fields.byte() !== 0) unusable.push({ id, problem: "it is protected by a passphrase" });
    else keys.push({ id, unlock: secret(fields, fingerprint) });
  }
  return { keys, unusable };
}

function fingerprintOf(publicPart: Buffer): Buffer {
  const head = Buffer.from([0x99, publicPart.length >> 8, publicPart.length & 0xff]);
  return createHash("sha1").update(head).update(publicPart).digest();
}

/** Reads the public fields; what it gives reads the secret ones. */
type KeyReader = (fields: Fields) => (secret: Fields, fingerprint: Buffer) => Unlock;

function rsa(fields: Fields): ReturnType<KeyReader> {
  const [n, e] = [fields.multiprecision(), fields.multiprecision()];
  return (secret) => {
    const [d, p, q, u] = [
      secret.multiprecision(),
      secret.multiprecision(),
      secret.multiprecision(),
      secret.multiprecision(),
    ];
    const text = (bytes: Buffer): string => bytes.toString("base64url");
    const remainder = (prime: Buffer): Buffer => toBytes(toNumber(d) % (toNumber(prime) - 1n));
    // Here u is the inverse of p, there qi is that of q: the primes change places.
    const jwk = {
      kty: "RSA",
      n: text(n),
      e: text(e),
      d: text(d),
      p: text(q),
      q: text(p),
      dp: text(remainder(q)),
      dq: text(remainder(p)),
      qi: text(u),
    };
    const key = createPrivateKey({ format: "jwk", key: jwk });
    return (message) => {
      const encrypted = padded(message.multiprecision(), n.length);
      return unpadded(privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, encrypted));
    };
  };
}

function elgamal(fields: Fields): ReturnType<KeyReader> {
  const [p] = [fields.multiprecision(), fields.multiprecision(), fields.multiprecision()];
  return (secret) => {
    const [prime, x] = [toNumber(p), toNumber(secret.multiprecision())];
    return (message) => {
      const shared = toNumber(message.multiprecision());
      const hidden = toNumber(message.multiprecision());
      const block = (hidden * power(shared, prime - 1n - x, prime)) % prime;
      return unpadded(padded(toBytes(block), p.length));
    };
  };
}

/** Curves by their object identifiers. */
const CURVES: Readonly<Record<string, string>> = {
  "2b060104019755010501": "x25519",
  "2a8648ce3d030107": "prime256v1",
  "2b81040022": "secp384r1",
  "2b81040023": "secp521r1",
};
const HASHES: Readonly<Record<number, string>> = { 8: "sha256", 9: "sha384", 10: "sha512" };
const WRAPPING_BYTES: Readonly<Record<number, number>> = { 7: 16, 8: 24, 9: 32 };
const WRAPPING_START = Buffer.alloc(8, 0xa6);

function ecdh(fields: Fields): ReturnType<KeyReader> {
  const oid = fields.bytes(fields.byte());
  fields.multiprecision();
  const derivation = fields.bytes(fields.byte());
  return (secret, fingerprint) => {
    const scalar = secret.multiprecision();
    const curve = CURVES[oid.toString("hex")];
    return (message) => {
      const [, hashId = 0, cipherId = 0] = derivation;
      const [hash, bytes] = [HASHES[hashId], WRAPPING_BYTES[cipherId]];
      if (curve === undefined || hash === undefined || bytes === undefined) {
        throw new OpenPgpError("the key's curve or its way to derive keys is unknown");
      }
      const shared = sharedSecret(curve, scalar, message.multiprecision());
      const parameters = Buffer.concat([
        Buffer.from([oid.length]),
        oid,
        Buffer.from([ECDH, derivation.length]),
        derivation,
        Buffer.from("Anonymous Sender    "),
        fingerprint,
      ]);
      const derived = createHash(hash)
        .update(Buffer.from([0, 0, 0, 1]))
        .update(shared)
        .update(parameters)
        .digest();
      const wrapped = message.bytes(message.byte());
      const decipher = createDecipheriv(
        `id-aes${bytes * 8}-wrap`,
        derived.subarray(0, bytes),
        WRAPPING_START,
      );
      const block = Buffer.concat([decipher.update(wrapped), decipher.final()]);
      return block.subarray(0, block.length - (block.at(-1) ?? 0));
    };
  };
}

const X25519_BYTES = 32;

function sharedSecret(curve: string, scalar: Buffer, point: Buffer): Buffer {
  if (curve !== "x25519") {
    const own = createECDH(curve);
    own.setPrivateKey(scalar);
    return own.computeSecret(point);
  }
  const text = (bytes: Buffer): string => bytes.toString("base64url");
  // The scalar is written with its first byte last; a point has 0x40 in front.
  const d = text(Buffer.from(padded(scalar, X25519_BYTES)).reverse());
  const base = { kty: "OKP", crv: "X25519" };
  const privateKey = createPrivateKey({
    format: "jwk",
    key: { ...base, d, x: text(Buffer.alloc(X25519_BYTES)) },
  });
  const publicKey = createPublicKey({ format: "jwk", key: { ...base, x: text(point.subarray(1)) } });
  return diffieHellman({ privateKey, publicKey });
}

const READERS: readonly { readonly algorithms: readonly number[]; readonly read: KeyReader }[] = [
  { algorithms: RSA, read: rsa },
  { algorithms: [ELGAMAL], read: elgamal },
  { algorithms: [ECDH], read: ecdh },
];

const toNumber = (bytes: Buffer): bigint => BigInt(`0x0${bytes.toString("hex")}`);
function toBytes(number: bigint): Buffer {
  const hex = number.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
}
const padded = (bytes: Buffer, length: number): Buffer =>
  Buffer.concat([Buffer.alloc(Math.max(0, length - bytes.length)), bytes]);

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Takes the padding of PKCS #1 off. */
function unpadded(block: Buffer): Buffer {
  const end = block.indexOf(0, 2);
  if (block[0] !== 0 || block[1] !== 2 || end < 0) throw new OpenPgpError("its key does not fit");
  return block.subarray(end + 1);
}
