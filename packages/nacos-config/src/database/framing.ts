/**
 * Messages of PostgreSQL's protocol (version 3), one by one. The client library reads past the end of one that is not as
 * it should be: it then throws where nobody catches, or never ends.
 */

/** Type, and the length of all but the type. */
const HEADER_BYTES = 5;
const MIN_LENGTH = 4;
const NUL = 0;
/** Types of messages that are a list of fields: errors and notices. */
const FIELD_LISTS = [..."EN"].map((type) => type.charCodeAt(0));

/** A server that does not speak the protocol. */
export class FramingError extends Error {}

/** Takes what arrives, in whatever pieces, and gives the messages that are complete. Throws a {@link FramingError}. */
export function createFraming(): (chunk: Buffer) => Buffer[] {
  let pieces: Buffer[] = [];
  let held = 0;
  /** Bytes of the message that is under way, or of its header. */
  let needed = HEADER_BYTES;
  return (chunk) => {
    pieces.push(chunk);
    held += chunk.length;
    if (held < needed) return [];
    const bytes = Buffer.concat(pieces);
    const messages: Buffer[] = [];
    let from = 0;
    for (;;) {
      const left = bytes.length - from;
      needed = left < HEADER_BYTES ? HEADER_BYTES : 1 + lengthOf(bytes, from);
      if (left < needed) break;
      const message = bytes.subarray(from, from + needed);
      if (FIELD_LISTS.includes(message[0]!)) checkFields(message);
      messages.push(message);
      from += needed;
    }
    pieces = [bytes.subarray(from)];
    held = bytes.length - from;
    return messages;
  };
}

function lengthOf(bytes: Buffer, from: number): number {
  const length = bytes.readUInt32BE(from + 1);
  if (length < MIN_LENGTH) throw new FramingError("a message has no length");
  return length;
}

/** Fields of a byte and a text each, every text ended by a zero byte, and a zero byte after the last. */
function checkFields(message: Buffer): void {
  let at = HEADER_BYTES;
  while (at < message.length && message[at] !== NUL) {
    const end = message.indexOf(NUL, at + 1);
    if (end === -1) break;
    at = end + 1;
  }
  if (at !== message.length - 1 || message[at] !== NUL) throw new FramingError("a list of fields has no end");
}
