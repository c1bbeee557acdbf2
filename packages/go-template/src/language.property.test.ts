/** What holds for every template. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { bytesOf, int, parseTemplate, sprintf, string, TemplateError, textOf } from "./index.ts";
import { play } from "./language.testkit.ts";

/** Pieces of templates, right ones and wrong ones, that meet in every order. */
const PIECES = [
  "{{",
  "}}",
  "{{-",
  "-}}",
  "{{if ",
  "{{range ",
  "{{with ",
  "{{else}}",
  "{{end}}",
  "{{define `a`}}",
  "{{template `a`}}",
  "$x",
  " := ",
  "=",
  ".n",
  ".list",
  ".m.x",
  ".null",
  "1",
  "2.5",
  "`t`",
  '"q"',
  "'c'",
  "(",
  ")",
  "|",
  ",",
  " ",
  "\n",
  "é",
  "len ",
  "index ",
  "printf ",
  "eq ",
  "and ",
  "up ",
  "fail ",
  "nil",
  "true",
  "/*",
  "*/",
  "text",
];

it("CONFD-TPL-21 CONFD-TPL-41 every text is a template or an error with file and line, and never anything else", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }), (pieces) => {
      const source = pieces.join("");
      let template: ReturnType<typeof parseTemplate>;
      try {
        template = parseTemplate({ name: "t", source: bytesOf(source) });
        template.render({ limits: { steps: 10_000 } });
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
        expect((error as Error).message).toMatch(/^template: t:\d+:/);
      }
    }),
    { numRuns: 3000 },
  );
});

it("CONFD-TPL-10 text without actions is copied byte for byte", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
      fc.pre(!text.includes("{{"));
      expect(play(text)).toBe(text);
    }),
  );
});

it("CONFD-TPL-13 a quoted string is the text that was quoted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      fc.pre(!text.includes("`") && !text.includes("\r"));
      expect(play(`{{\`${text}\`}}`)).toBe(text);
      expect(play(`{{${textOf(sprintf("%q", [string(bytesOf(text))]))}}}`)).toBe(text);
    }),
  );
});

it("CONFD-TPL-2 CONFD-FMT-2 integers keep all their digits", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (number) => {
      expect(play(`{{${number}}}`)).toBe(String(number));
      const hex = number < 0n ? `-${(-number).toString(16)}` : number.toString(16);
      expect(textOf(sprintf("%x", [int(number)]))).toBe(hex);
    }),
  );
});

it("CONFD-TPL-34 a loop gives each element once, in order", () => {
  fc.assert(
    fc.property(fc.nat(200), (count) => {
      expect(play(`{{range $i := ${count}}}{{$i}},{{end}}`)).toBe(
        Array.from({ length: count }, (_, i) => `${i},`).join(""),
      );
    }),
  );
});
