import { expect, it } from "vitest";
import { pairs } from "./dns-pairs.ts";

// biome-ignore lint/suspicious/noExplicitAny: parts of records
type Loose = any;

const wish = (content: string, type = "A"): Loose => ({ name: "a.b", type, content });
const had = (id: string, content: string, type = "A"): Loose => ({ id, ...wish(content, type) });
const told = (wanted: Loose[], records: Loose[]): unknown => {
  const { pairs: found, left } = pairs(wanted, records);
  return [found.map(({ previous }) => previous?.id), left.map(({ id }) => id)];
};

it("TUN-926 a record that is as wanted stays, others are changed, and what is too much goes", () => {
  const [one, two] = [had("1", "192.0.2.1"), had("2", "192.0.2.2")];
  expect(told([wish("192.0.2.2"), wish("192.0.2.3")], [one, two])).toEqual([["2", "1"], []]);
  expect(told([wish("192.0.2.2")], [one, two])).toEqual([["2"], ["1"]]);
  expect(told([wish("192.0.2.1"), wish("192.0.2.9")], [one])).toEqual([["1", undefined], []]);
});

it("TUN-928 a record whose type cannot be changed is the last to be taken", () => {
  expect(told([wish("192.0.2.1")], [had("t", "x", "TXT"), had("c", "x.net", "CNAME")])).toEqual([
    ["c"],
    ["t"],
  ]);
  expect(told([wish("x", "TXT")], [had("1", "192.0.2.1")])).toEqual([["1"], []]);
});
