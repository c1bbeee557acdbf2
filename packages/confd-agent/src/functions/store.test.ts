/** Functions of confd over a store. */
import { describe, expect, it } from "vitest";
import { playTemplate } from "../../test/template-case.ts";

const STORE = {
  "/a/": "slash",
  "/a/b": "1",
  "/a/b/c": "2",
  "/a/x*y": "star",
  "/upstream/app1": "10.0.1.10:8080",
  "/upstream/app2": "10.0.1.11:8080",
  "/empty": "",
};
const play = (template: string): string => {
  const { output, error } = playTemplate({ store: STORE, template });
  return output ?? `! ${error}`;
};

describe("patterns", () => {
  it.each([
    ["/a/*", "[/a/ /a/b /a/x*y]"],
    ["/a/?", "[/a/b]"],
    ["/a/[a-c]", "[/a/b]"],
    ["/a/[^a-c]", "[]"],
    ["/a/x\\\\*y", "[/a/x*y]"],
    ["/*/b", "[/a/b]"],
    ["/a/b/c", "[/a/b/c]"],
  ])("CONFD-FN-4 %s", (pattern, keys) => {
    expect(play(`{{$k := list}}{{range gets "${pattern}"}}{{$k = append $k .Key}}{{end}}{{$k}}`)).toBe(keys);
  });

  it("CONFD-FN-4 one that is wrong is an error", () => {
    expect(play('{{gets "["}}')).toContain("error calling gets: syntax error in pattern");
  });
});

it.each([
  [
    '{{split "a,b" ","}} {{join (split "a,b" ",") "-"}} {{toUpper "a"}} {{replace "aXa" "X" "-" -1}} {{trimSuffix "a.x" ".x"}} {{contains "abc" "b"}}',
    "[a b] a-b A a-a a true",
  ],
  [
    '{{$a := atoi "20"}}{{$b := atoi "7"}}{{add $a $b}} {{sub $a $b}} {{mul $a $b}} {{div $a $b}} {{mod $a $b}}',
    "27 13 140 2 6",
  ],
  ['{{base64Decode (base64Encode "é\\n")}}', "é\n"],
  [
    '{{$j := json "{\\"a\\":{\\"b\\":\\"c\\"}}"}}{{$j.a.b}} {{range jsonArray "[1,\\"x\\"]"}}{{.}};{{end}}',
    "c 1;x;",
  ],
  [
    '{{base "/a/b"}} {{dir "/a/b"}} {{(map "k" "v").k}} {{parseBool "true"}} {{reverse (split "a,b" ",")}}',
    "b /a v true [b a]",
  ],
  [
    '{{if exists "/empty"}}there{{else}}not{{end}} {{if exists "/no"}}there{{else}}not{{end}} [{{getv "/empty" "default"}}]',
    "there not []",
  ],
  [
    '{{$u := gets "/upstream/*"}}{{len $u}} {{(index $u 0).Key}} {{(index $u 1).Value}}',
    "2 /upstream/app1 10.0.1.11:8080",
  ],
])("AS-21 CONFD-FN-1 %s", (template, output) => {
  expect(play(template)).toBe(output);
});

it.each([
  ['{{atoi "x"}}', 'strconv.Atoi: parsing "x": invalid syntax'],
  ['{{atoi "9223372036854775808"}}', "value out of range"],
  ['{{parseBool "yes"}}', "invalid syntax"],
  ['{{base64Decode "?"}}', "illegal base64 data at input byte 0"],
  ["{{div 1 0}}", "divide by zero"],
  ['{{json "[]"}}', "cannot unmarshal array"],
  ['{{jsonArray "{}"}}', "cannot unmarshal object"],
  ['{{map "a"}}', "invalid map call"],
  ["{{map 1 2}}", "map keys must be strings"],
  ['{{getv "/no"}}', "key does not exist: /no"],
  ['{{get "/no"}}', "key does not exist: /no"],
  ["{{seq 1 2000000}}", "error calling seq"],
  ['{{join (jsonArray "[]") ","}}', "expected []string; got []interface {}"],
  ['{{regexMatch "(" "a"}}', "error calling regexMatch"],
  ['{{fromJson "{"}}', "error calling fromJson"],
  ['{{repeat -1 "a"}}', "error calling repeat"],
])("CONFD-FN-1 CONFD-TPL-39 %s is an error with its reason", (template, reason) => {
  expect(play(template)).toContain(reason);
});
