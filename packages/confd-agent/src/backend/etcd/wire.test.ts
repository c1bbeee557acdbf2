import fc from "fast-check";
import { expect, it } from "vitest";
import { decode, encode, type Fields } from "./wire.ts";

const revision = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("latin1"));

it("CONFD-ETCD-12 CONFD-STORE-3 what is written is read again: numbers of 64 bits, flags, and any bytes", () => {
  fc.assert(
    fc.property(revision, bytes, fc.boolean(), (number, text, flag) => {
      const inner = encode([[5, text]]);
      const message = decode(
        encode([
          [1, number],
          [2, text],
          [3, flag],
          [4, inner],
          [4, inner],
        ]),
      );
      expect([message.number(1), message.text(2), message.flag(3)]).toEqual([number, text, flag]);
      expect(message.messages(4).map((one) => one.text(5))).toEqual([text, text]);
      expect([message.number(9), message.text(9), message.flag(9), message.messages(9)]).toEqual([
        0n,
        "",
        false,
        [],
      ]);
    }),
  );
});

it("CONFD-ETCD-12 the answer that ends a watch keeps the revision of the compaction", () => {
  // created_watch_id 7, canceled, compact_revision 42; between them fields of 4 and 8 bytes that nobody knows.
  const fields: Fields = [
    [2, 7n],
    [4, true],
    [5, 42n],
  ];
  const unknown = Buffer.from([0xf1, 0x01, ...Buffer.alloc(8), 0xf5, 0x01, ...Buffer.alloc(4)]);
  const message = decode(Buffer.concat([encode(fields.slice(0, 2)), unknown, encode(fields.slice(2))]));
  expect([message.number(2), message.flag(4), message.number(5)]).toEqual([7n, true, 42n]);
});

it("CONFD-ETCD-12 an answer that is cut off is an error, or one that is none", () => {
  const whole = encode([
    [1, 300n],
    [2, "text"],
  ]);
  // Between two fields a message may end; everywhere else it is cut off.
  const ends = new Set([0, encode([[1, 300n]]).length, whole.length]);
  for (let size = 0; size <= whole.length; size++) {
    const read = () => decode(whole.subarray(0, size));
    if (ends.has(size)) expect(read).not.toThrow();
    else expect(read).toThrow("cut off");
  }
  expect(() => decode(Buffer.from([0x0b]))).toThrow("unknown type 3");
  expect(() => decode(Buffer.alloc(12, 0xff))).toThrow("no valid number");
});
