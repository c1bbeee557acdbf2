/** The encoding of ZooKeeper's messages: big-endian numbers, and texts and lists with their length in front. */

export interface JuteWriter {
  int(value: number): JuteWriter;
  long(value: bigint): JuteWriter;
  flag(value: boolean): JuteWriter;
  /** A byte string, as text or as bytes: both are written alike. */
  bytes(value: string): JuteWriter;
  /** The message with its length in front. */
  frame(): Buffer;
}

export function juteWriter(): JuteWriter {
  const parts: Buffer[] = [];
  const writer: JuteWriter = {
    int: (value) => {
      const part = Buffer.alloc(4);
      part.writeInt32BE(value);
      parts.push(part);
      return writer;
    },
    long: (value) => {
      const part = Buffer.alloc(8);
      part.writeBigInt64BE(value);
      parts.push(part);
      return writer;
    },
    flag: (value) => {
      parts.push(Buffer.from([value ? 1 : 0]));
      return writer;
    },
    bytes: (value) => {
      writer.int(value.length);
      parts.push(Buffer.from(value, "latin1"));
      return writer;
    },
    frame: () => {
      const body = Buffer.concat(parts);
      return Buffer.concat([juteLength(body.length), body]);
    },
  };
  return writer;
}

function juteLength(length: number): Buffer {
  const part = Buffer.alloc(4);
  part.writeInt32BE(length);
  return part;
}

/** Reads a message from its beginning; every call throws where it is too short, or says what cannot be. */
export interface JuteReader {
  int(): number;
  long(): bigint;
  /** A byte string; what is null is empty. */
  bytes(): string;
  /** A list of byte strings. */
  list(): string[];
  skip(bytes: number): void;
}

export function juteReader(message: Buffer): JuteReader {
  let at = 0;
  const take = (length: number): number => {
    if (length < 0 || length > message.length - at) throw new Error("zookeeper: the answer is cut off");
    at += length;
    return at - length;
  };
  const reader: JuteReader = {
    int: () => message.readInt32BE(take(4)),
    long: () => message.readBigInt64BE(take(8)),
    bytes: () => {
      const length = Math.max(reader.int(), 0);
      const from = take(length);
      return message.toString("latin1", from, from + length);
    },
    list: () => {
      const length = Math.max(reader.int(), 0);
      // Each has a length of its own: a list that is longer than the message is refused before anything is made of it.
      if (length > message.length / 4) throw new Error("zookeeper: the answer is cut off");
      return Array.from({ length }, () => reader.bytes());
    },
    skip: (bytes) => void take(bytes),
  };
  return reader;
}

/** Cuts what a socket brings into messages; throws on a length that cannot be. */
export function juteFrames(longest: number): (chunk: Buffer) => Buffer[] {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted: number | undefined;
  /** The first bytes of what came. */
  const cut = (length: number): Buffer => {
    const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
    chunks = all.length === length ? [] : [all.subarray(length)];
    size -= length;
    return all.subarray(0, length);
  };
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    const found: Buffer[] = [];
    for (;;) {
      if (wanted === undefined) {
        if (size < 4) return found;
        wanted = cut(4).readInt32BE();
        if (wanted < 0 || wanted > longest) throw new Error(`zookeeper: an answer of ${wanted} bytes`);
      }
      if (size < wanted) return found;
      found.push(cut(wanted));
      wanted = undefined;
    }
  };
}
