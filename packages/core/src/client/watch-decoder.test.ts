import fc from "fast-check";
import { expect, it } from "vitest";
import { answer, CONFIG_MAP, serve } from "./testkit.testkit.ts";
import { createWatchDecoder, WatchFormatError } from "./watch-decoder.ts";

const MIB = 1024 * 1024;
const line = (name: string): string =>
  `${JSON.stringify({ type: "ADDED", object: { metadata: { name } } })}\n`;

it("CORE-171 decodes the same events however the stream is cut", () => {
  const names = fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 8 });
  fc.assert(
    fc.property(names, fc.array(fc.nat({ max: 40 })), (texts, cuts) => {
      const bytes = Buffer.from(texts.map(line).join(""), "utf8");
      const decoder = createWatchDecoder();
      const decoded: unknown[] = [];
      let from = 0;
      for (const length of [...cuts, bytes.length]) {
        decoded.push(...decoder.push(bytes.subarray(from, from + length)));
        from += length;
      }
      decoded.push(...decoder.end());
      expect(decoded).toEqual(texts.map((text) => JSON.parse(line(text))));
    }),
  );
});

it("CORE-171 decodes characters and events across chunk borders, byte by byte", () => {
  const decoder = createWatchDecoder();
  const events = [...Buffer.from(line("日本🚀é"), "utf8")].flatMap((byte) => [
    ...decoder.push(Uint8Array.of(byte)),
  ]);
  expect(events.map(({ object }) => object.metadata.name)).toEqual(["日本🚀é"]);
});

it("CORE-171 hands out several events of one chunk at once", () => {
  const events = [...createWatchDecoder().push(Buffer.from(`${line("a") + line("b") + line("c")}{"type":`))];
  expect(events.map(({ object }) => object.metadata.name)).toEqual(["a", "b", "c"]);
});

it.each([
  "{not json}",
  '{"type":"ADDED"}',
  '{"object":{}}',
  '{"type":"CHANGED","object":{}}',
  '{"type":"ADDED","object":null}',
  '{"type":"ADDED","object":"text"}',
  "null",
  "[]",
  "7",
])("CORE-171 ends the watch at the malformed line %s instead of skipping it", (malformed) => {
  const decoder = createWatchDecoder();
  expect(() => [...decoder.push(Buffer.from(`${malformed}\n${line("a")}`))]).toThrow(WatchFormatError);
});

it("CORE-171 takes an unfinished last line for an error", () => {
  const decoder = createWatchDecoder();
  expect([...decoder.push(Buffer.from(`${line("a")}{"type":"ADDED","obj`))]).toHaveLength(1);
  expect(() => [...decoder.end()]).toThrow(WatchFormatError);
});

it("CORE-171 refuses a line of more than 16 MiB, without waiting for its end", () => {
  const decoder = createWatchDecoder();
  const chunk = Buffer.alloc(MIB, 0x78);
  for (let i = 0; i < 16; i++) expect([...decoder.push(chunk)]).toEqual([]);
  expect(() => [...decoder.push(Buffer.from("x"))]).toThrow("longer than 16 MiB");

  const head = '{"type":"ADDED","object":{"x":"';
  const fits = `${head}${"x".repeat(16 * MIB - head.length - 3)}"}}`;
  expect(Buffer.byteLength(fits)).toBe(16 * MIB);
  expect([...createWatchDecoder().push(Buffer.from(`${fits}\n`))]).toHaveLength(1);
});

it("shows nothing of a malformed line in the error", () => {
  const decoder = createWatchDecoder();
  expect(() => [...decoder.push(Buffer.from('{"data":"secret-value"\n'))]).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("secret") }),
  );
});

it("CORE-171 ends a client's watch with that error, after the events before it", async () => {
  const { client } = await serve((_, response) => answer(response, 200, `${line("a")}{broken\n${line("b")}`));
  const events = client.watch(CONFIG_MAP, {})[Symbol.asyncIterator]();
  await expect(events.next()).resolves.toMatchObject({ value: { object: { metadata: { name: "a" } } } });
  await expect(events.next()).rejects.toBeInstanceOf(WatchFormatError);
  await expect(events.next()).resolves.toEqual({ done: true, value: undefined });
});
