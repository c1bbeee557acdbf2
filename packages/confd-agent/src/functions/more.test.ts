import { describe, expect, it } from "vitest";
import { playTemplate } from "../../test/template-case.ts";

const render = (template: string) => playTemplate({ store: { "/a": "1" }, template });

describe("functions beyond confd 0.16", () => {
  it.each([
    ['{{getv "/none" "" | default "d"}} {{default "d" "v"}} {{default 5 0}}', "d v 5"],
    ['{{ternary "y" "n" true}}{{false | ternary "y" "n"}}', "yn"],
    ['{{coalesce "" 0 "x" "y"}} {{coalesce "" 0}} {{empty ""}} {{empty "a"}}', "x <no value> true false"],
    ['{{toJson (map "b" 1 "a" (list "<" 1.5 nil true))}}', '{"a":["\\u003c",1.5,null,true],"b":1}'],
    ['{{toPrettyJson (map "a" 1)}}', '{\n  "a": 1\n}'],
    ['{{(fromJson "{\\"a\\":[1]}").a}} {{fromJson "2"}}', "[1] 2"],
    ['{{"a\\nb" | indent 2}}|{{"a" | nindent 1}}', "  a\n  b|\n a"],
    [
      '{{quote "a\\"b"}} {{squote 1}} {{trimPrefix "v1" "v"}} {{"ab" | repeat 2}} {{nospace " a b "}}',
      '"a\\"b" \'1\' 1 abab ab',
    ],
    [
      '{{snakecase "fooBar-baz"}} {{kebabcase "FooBar"}} {{camelcase "foo_bar"}}',
      "foo_bar_baz foo-bar FooBar",
    ],
    [
      '{{regexMatch "^a+$" "aa"}} {{regexFind "[0-9]+" "a12b3"}} {{regexReplaceAll "a(.)" "abac" "$1"}}',
      "true 12 bc",
    ],
    [
      '{{hasKey (map "a" 1) "a"}} {{keys (map "b" 1 "a" 2)}} {{values (map "b" 1 "a" 2)}} {{pluck "a" (map "a" 1) (map "b" 2)}}',
      "true [a b] [2 1] [1]",
    ],
    [
      '{{append (list 1) "x"}} {{sha256sum ""}}',
      `[1 x] e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`,
    ],
  ])("CONFD-FN-1 %s", (template, output) => {
    expect(render(template)).toEqual({ output });
  });

  it.each([
    ['{{regexMatch "(" "a"}}', "error calling regexMatch: regular expression: "],
    ['{{repeat 100000000 "x"}}', "error calling repeat: more than 16777216 bytes"],
    ["{{append 1 2}}", "error calling append: not a list: int"],
    ['{{fromJson "{"}}', "unexpected end of JSON input"],
    ["{{seq 1 9999999}}", "more than 1000000 elements"],
  ])("CONFD-FN-1 %s fails", (template, problem) => {
    expect(render(template).error).toContain(problem);
  });
});
