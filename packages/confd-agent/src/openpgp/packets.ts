/** OpenPGP (RFC 4880): armor, packets and the numbers in them. */

export class OpenPgpError extends Error {
  override readonly name = "OpenPgpError";
}

export interface Packet {
  readonly tag: number;
  readonly body: Buffer;
}

export const TAG = {
  sessionKey: 1,
  secretKey: 5,
  secretSubkey: 7,
  compressed: 8,
  encryptedUnprotected: 9,
  literal: 11,
  encrypted: 18,
  encryptedAead: 20,
} as const;

/** Reads fields one after another; an end in the middle of one is an error. */
export interface Fields {
  byte(): number;
  number(bytes: number): number;
  bytes(count: number): Buffer;
  /** A number with its length in bits in front. */
  multiprecision(): Buffer;
  rest(): Buffer;
  position(): number;
}

export function fieldsOf(data: Buffer): Fields {
  let at = 0;
  const bytes = (count: number): Buffer => {
    if (at + count > data.length) throw new OpenPgpError("OpenPGP data is cut off");
    at += count;
    return data.subarray(at - count, at);
  };
  const number = (count: number): number => bytes(count).readUIntBE(0, count);
  return {
    byte: () => number(1),
    number,
    bytes,
    multiprecision: () => bytes(Math.ceil(number(2) / 8)),
    rest: () => bytes(data.length - at),
    position: () => at,
  };
}

/** Splits data into its packets. */
export function packetsOf(data: Buffer): Packet[] {
  const packets: Packet[] = [];
  const fields = fieldsOf(data);
  while (fields.position() < data.length) {
    const header = fields.byte();
    if ((header & 0x80) === 0) throw new OpenPgpError("not an OpenPGP message");
    if ((header & 0x40) === 0) packets.push({ tag: (header >> 2) & 0x0f, body: oldBody(fields, header & 3) });
    else packets.push({ tag: header & 0x3f, body: newBody(fields) });
  }
  return packets;
}

const oldBody = (fields: Fields, lengthType: number): Buffer =>
  lengthType === 3 ? fields.rest() : fields.bytes(fields.number(2 ** lengthType));

/** A body in one piece, or in several with a length in front of each. */
function newBody(fields: Fields): Buffer {
  const pieces: Buffer[] = [];
  for (;;) {
    const first = fields.byte();
    if (first < 192) pieces.push(fields.bytes(first));
    else if (first < 224) pieces.push(fields.bytes((first - 192) * 256 + fields.byte() + 192));
    else if (first === 255) pieces.push(fields.bytes(fields.number(4)));
    else {
      pieces.push(fields.bytes(2 ** (first & 0x1f)));
      continue;
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }
}

/** What the armored blocks of a kind hold. */
export function dearmor(text: string, kind: string): Buffer[] {
  const [begin, end] = [`-----BEGIN ${kind}-----`, `-----END ${kind}-----`];
  const blocks: Buffer[] = [];
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    const last = text.indexOf(end, at);
    if (last < 0) break;
    const lines = text
      .slice(at + begin.length, last)
      .split(/\r?\n/)
      .slice(1);
    // Headers end with an empty line; the line with = in front is a checksum.
    const body = lines.slice(lines.findIndex((line) => line.trim() === "") + 1);
    blocks.push(Buffer.from(body.filter((line) => !line.startsWith("=")).join(""), "base64"));
    at = last;
  }
  return blocks;
}
