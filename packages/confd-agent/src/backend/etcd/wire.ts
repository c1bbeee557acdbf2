/** Protocol buffers as far as etcd's messages need them: varints and length-delimited fields. */

/** A message to write: field number to value, several for repeated fields. */
export type Fields = readonly (readonly [
  number: number,
  value: bigint | number | boolean | string | Buffer,
])[];

/** Encodes a message; strings are byte strings, zero values are left out. */
export function encode(fields: Fields): Buffer {
  const parts: Buffer[] = [];
  for (const [number, value] of fields) {
    if (typeof value === "string" || Buffer.isBuffer(value)) {
      const bytes = typeof value === "string" ? Buffer.from(value, "latin1") : value;
      parts.push(varint(BigInt(number << 3) | 2n), varint(BigInt(bytes.length)), bytes);
    } else {
      const integer = BigInt(value);
      if (integer !== 0n) parts.push(varint(BigInt(number << 3)), varint(BigInt.asUintN(64, integer)));
    }
  }
  return Buffer.concat(parts);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** A message that was read: all values of a field by its number. */
export interface Message {
  /** The last number of the field, 0 when there is none. */
  number(field: number): bigint;
  flag(field: number): boolean;
  /** The last bytes of the field as a byte string. */
  text(field: number): string;
  message(field: number): Message;
  messages(field: number): Message[];
}

const NOTHING = Buffer.alloc(0);
/** Seven groups of seven bits fit into a number without loss. */
const SMALL = 2 ** 49;

/** Decodes a message; throws on what is none. */
export function decode(buffer: Buffer): Message {
  const numbers = new Map<number, number | bigint>();
  const chunks = new Map<number, Buffer[]>();
  let at = 0;
  /** A number; a bigint only where it needs more than 49 bits. */
  const readVarint = (): number | bigint => {
    let small = 0;
    for (let weight = 1; weight < SMALL; weight *= 0x80) {
      const byte = nextByte();
      small += (byte & 0x7f) * weight;
      if (byte < 0x80) return small;
    }
    let value = BigInt(small);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = nextByte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error("the answer holds no valid number");
  };
  const nextByte = (): number => {
    const byte = buffer[at];
    if (byte === undefined) throw new Error("the answer is cut off");
    at += 1;
    return byte;
  };
  const take = (length: number): Buffer => {
    if (at + length > buffer.length) throw new Error("the answer is cut off");
    at += length;
    return buffer.subarray(at - length, at);
  };
  while (at < buffer.length) {
    const tag = Number(readVarint());
    const field = tag >> 3;
    switch (tag & 7) {
      case 0:
        numbers.set(field, readVarint());
        break;
      case 1:
        take(8);
        break;
      case 2: {
        const bytes = take(Number(readVarint()));
        const list = chunks.get(field);
        if (list === undefined) chunks.set(field, [bytes]);
        else list.push(bytes);
        break;
      }
      case 5:
        take(4);
        break;
      default:
        throw new Error(`the answer holds a field of unknown type ${tag & 7}`);
    }
  }
  const bytes = (field: number): Buffer => chunks.get(field)?.at(-1) ?? NOTHING;
  return {
    number: (field) => BigInt(numbers.get(field) ?? 0),
    flag: (field) => BigInt(numbers.get(field) ?? 0) !== 0n,
    text: (field) => bytes(field).toString("latin1"),
    message: (field) => decode(bytes(field)),
    messages: (field) => (chunks.get(field) ?? []).map(decode),
  };
}
