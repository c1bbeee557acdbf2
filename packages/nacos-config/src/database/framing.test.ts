import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFraming, FramingError } from "./framing.ts";

function message(type: string, content: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, Buffer.from(content, "latin1")]);
}

describe("messages of PostgreSQL", () => {
  it("NACOS-1012 come out whole and in order, in whatever pieces they arrive", () => {
    const texts = fc.array(fc.string({ unit: "binary-ascii", maxLength: 20 }), { maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 9 })), (contents, sizes) => {
        const sent = contents.map((content) => message("D", content));
        const all = Buffer.concat(sent);
        const framing = createFraming();
        const out: Buffer[] = [];
        for (let from = 0, step = 0; from < all.length; step += 1) {
          const size = sizes[step % Math.max(1, sizes.length)] ?? 3;
          out.push(...framing(all.subarray(from, from + size)).map((bytes) => Buffer.from(bytes)));
          from += size;
        }
        expect(out).toEqual(sent);
      }),
    );
  });

  it.each(["", "S", "SERROR", "SERROR\0", "SERROR\0C", "\0x", "SERROR\0\0\0"])(
    "NACOS-1012 an error or notice with the fields %j is none",
    (content) => {
      for (const type of ["E", "N"]) {
        expect(() => createFraming()(message(type, content))).toThrow(FramingError);
      }
    },
  );

  it("NACOS-1012 takes errors as servers send them, and no message without a length", () => {
    for (const content of ["\0", "SERROR\0C28P01\0\0", "M\0\0"]) {
      expect(createFraming()(message("E", content))).toHaveLength(1);
    }
    expect(() => createFraming()(Buffer.from([68, 0, 0, 0, 3]))).toThrow(FramingError);
  });

  it("NACOS-1012 takes time in proportion to the bytes, when they come one by one", () => {
    const begin = performance.now();
    const framing = createFraming();
    const bytes = message("D", "x".repeat(500_000));
    let out = 0;
    for (let at = 0; at < bytes.length; at += 1) out += framing(bytes.subarray(at, at + 1)).length;
    expect(out).toBe(1);
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});
