/** The language rule by rule. Outputs and errors are those of Go 1.26. */
import { describe, expect, it } from "vitest";
import { parseTemplate } from "./index.ts";
import { play } from "./language.testkit.ts";

/** Rule, templates and what each gives: its text, or its error after `!`. */
const RULES: Readonly<Record<string, readonly (readonly [template: string, outcome: string])[]>> = {
  "CONFD-TPL-1 strings are bytes, widths are characters": [
    ['{{len "héllo"}} {{index "abc" 1}} {{printf "%q" (slice "héllo" 0 2)}}', '6 98 "h\\xc3"'],
    ['{{printf "[%4s|%-4s|%.1s]" "é" "é" "éa"}}', "[   é|é   |é]"],
  ],
  "CONFD-TPL-2 integers have 64 bits": [
    ["{{9223372036854775807}} {{-9223372036854775808}}", "9223372036854775807 -9223372036854775808"],
    [
      "{{9223372036854775808}}",
      '!template: t.tmpl:1:2: executing "t.tmpl" at <9223372036854775808>: 9223372036854775808 overflows int',
    ],
    ["{{add 9223372036854775807 1}}", "-9223372036854775808"],
  ],
  "CONFD-TPL-3 dollar is the dot of the start": [["{{range .list}}{{.}}{{$.n}}{{end}}", "a7b7"]],
  "CONFD-TPL-4 what is empty is false": [
    [
      "{{if false}}t{{end}}{{if 0}}t{{end}}{{if 0.0}}t{{end}}{{if .null}}t{{end}}{{if ``}}t{{end}}{{if .empty}}t{{end}}{{if .nowhere}}t{{end}}|",
      "|",
    ],
    [
      '{{if true}}1{{end}}{{if "false"}}2{{end}}{{if -1}}3{{end}}{{if .list}}4{{end}}{{if .m}}5{{end}}{{if .pair}}6{{end}}',
      "123456",
    ],
  ],
  "CONFD-TPL-10 text is copied, actions may span lines, strings may not": [
    ["a }} { {{\n1\n|\tprintf `%d`\r\n}} b", "a }} { 1 b"],
    ['{{"a\nb"}}', "!template: t.tmpl:1: unterminated quoted string"],
    ["{{`a\nb`}}", "a\nb"],
    ["{{1", "!template: t.tmpl:1: unclosed action"],
  ],
  "CONFD-TPL-11 dashes with a space trim": [
    ["x \t\r\n{{- 1 -}}\n y {{-3}} z", "x1y -3 z"],
    ["a {{- /* c */ -}} b", "ab"],
  ],
  "CONFD-TPL-12 comments stand alone in their action": [
    ["a{{/* x\ny */}}b", "ab"],
    ["{{ /* c */ }}", '!template: t.tmpl:1: unexpected "/" in command'],
    ["{{/* c", "!template: t.tmpl:1: unclosed comment"],
    ["{{/* c */ x}}", "!template: t.tmpl:1: comment ends before closing delimiter"],
  ],
  "CONFD-TPL-13 literals": [
    ['{{"\\a\\b\\f\\n\\r\\t\\v\\\\\\"\\x41\\101\\u00e9\\U0001F600"}}', '\x07\b\f\n\r\t\v\\"AAé😀'],
    [
      "{{0x1F}} {{0o17}} {{0b11}} {{017}} {{1_000}} {{'a'}} {{'\\n'}} {{1e3}} {{0x1p4}}",
      "31 15 3 15 1000 97 10 1000 16",
    ],
    ["{{true}} {{false}} {{print nil}}", "true false <nil>"],
    ["{{1i}}", '!template: t.tmpl:1: complex numbers are not supported: "1i"'],
    ["{{08}}", '!template: t.tmpl:1: integer overflow: "08"'],
  ],
  "CONFD-TPL-20 break leaves the other branch of a loop as it does the loop, continue goes on with the outer one":
    [
      ["{{range 2}}{{range 0}}{{else}}a{{break}}b{{end}}{{.}}{{end}}", "a0a1"],
      ["{{range 2}}{{range 0}}{{else}}a{{continue}}b{{end}}{{.}}{{end}}", "aa"],
    ],
  "CONFD-FMT-2 CONFD-FMT-3 the verb of errors fits nothing": [
    [
      "{{printf `%w` .list}} {{printf `%w` .pair}} {{printf `%w` 1}}",
      "%!w([]string=[a b]) %!w(pair.Pair={k v}) %!w(int=1)",
    ],
  ],
  "CONFD-TPL-14 keywords are no functions": [
    ["{{end}}", "!template: t.tmpl:1: unexpected {{end}}"],
    ["{{else}}", "!template: t.tmpl:1: unexpected {{else}}"],
    ["{{nil}}", '!template: t.tmpl:1:2: executing "t.tmpl" at <nil>: nil is not a command'],
  ],
  "CONFD-TPL-15 the value of a command is the last argument of the next": [
    ['{{"c" | all "a" "b"}} {{1 | add 2 | add 3}}', "a+b+c 6"],
    ["{{$x := 4 | add 1}}{{$x}}", "5"],
    ['{{"a" | "b"}}', "!template: t.tmpl:1: non executable command in pipeline stage 2"],
    ["{{$x, $y := 1}}", "!template: t.tmpl:1: too many declarations in command"],
    ["{{}}", "!template: t.tmpl:1: missing value for command"],
  ],
  "CONFD-TPL-16 operands and their fields": [
    ["{{.m.x}} {{$.m.y}} {{(.m).x}} {{$v := .m}}{{$v.y}} {{(same .m).x}}", "1 2 1 2 1"],
    ["{{1.x}}", '!template: t.tmpl:1: bad number syntax: "1.x"'],
    ["{{nil.x}}", '!template: t.tmpl:1: unexpected . after term "nil"'],
    ["{{true.x}}", '!template: t.tmpl:1: unexpected . after term "true"'],
  ],
  "CONFD-TPL-17 functions and variables must be known when it is parsed": [
    ["{{if false}}{{nope}}{{end}}", '!template: t.tmpl:1: function "nope" not defined'],
    ["a\n{{$x}}", '!template: t.tmpl:2: undefined variable "$x"'],
    ["{{if true}}{{$x := 1}}{{end}}{{$x}}", '!template: t.tmpl:1: undefined variable "$x"'],
  ],
  "CONFD-TPL-18 definitions": [
    ['{{template "a"}}{{define "a"}}A{{end}}', "A"],
    ['{{define "a"}}A{{end}}{{define "a"}} {{end}}{{template "a"}}', "A"],
    [
      '{{define "a"}}1{{end}}{{define "a"}}2{{end}}',
      '!template: t.tmpl:1: template: multiple definition of template "a"',
    ],
    ['{{if 1}}{{define "a"}}{{end}}{{end}}', "!template: t.tmpl:1: unexpected <define> in command"],
  ],
  "CONFD-TPL-19 templates get their argument or nothing": [
    ['{{define "a"}}<{{.}}>{{end}}{{template "a"}}{{template "a" .n}}', "<<no value>><7>"],
    ['{{block "b" .s}}[{{.}}]{{end}}{{template "b" 1}}', "[text][1]"],
    [
      '{{template "no"}}',
      '!template: t.tmpl:1:11: executing "t.tmpl" at <{{template "no"}}>: template "no" not defined',
    ],
    ["{{template .s}}", '!template: t.tmpl:1: unexpected ".s" in template clause'],
  ],
  "CONFD-TPL-20 branches": [
    ["{{if 0}}a{{else if 1}}b{{else}}c{{end}} {{with 0}}a{{else with 5}}{{.}}{{else}}c{{end}}", "b 5"],
    ["{{if 0}}a{{else}}b{{else}}c{{end}}", "!template: t.tmpl:1: expected end; found {{else}}"],
    ["{{break}}", "!template: t.tmpl:1: {{break}} outside {{range}}"],
    ["{{continue}}", "!template: t.tmpl:1: {{continue}} outside {{range}}"],
    ["{{if 1}}x", "!template: t.tmpl:1: unexpected EOF"],
  ],
  "CONFD-TPL-21 errors of parsing name file and line": [
    ["1\n2\n{{if}}", "!template: t.tmpl:3: missing value for if"],
    ["1\n{{(1}}", "!template: t.tmpl:2: unclosed left paren"],
  ],
  "CONFD-TPL-30 declarations print nothing": [["{{$x := 1}}{{$x = 2}}{{$x}}", "2"]],
  "CONFD-TPL-31 variables live in their block": [
    ["{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}", "21"],
    ["{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}", "2"],
    ["{{$x = 1}}", '!template: t.tmpl:1:7: executing "t.tmpl" at <1>: undefined variable: $x'],
  ],
  "CONFD-TPL-32 templates see no variables from outside": [
    ['{{$x := 1}}{{define "a"}}{{$.n}}{{end}}{{template "a" .}}', "7"],
    ['{{$x := 1}}{{define "a"}}{{$x}}{{end}}', '!template: t.tmpl:1: undefined variable "$x"'],
  ],
  "CONFD-TPL-33 a variable of a condition is there in else too": [
    [
      "{{if $x := 0}}{{else}}{{$x}}{{end}} {{with $x := 0}}{{else}}{{$x}}{{.n}}{{end}} {{with .s}}{{.}}{{end}}",
      "0 07 text",
    ],
  ],
  "CONFD-TPL-34 loops": [
    [
      "{{range $i, $e := .list}}{{$i}}{{$e}}{{end}} {{range $k, $v := .m}}{{$k}}{{$v}}{{end}} {{range 3}}{{.}}{{end}}",
      "0a1b x1y2 012",
    ],
    ["{{range .empty}}{{else}}none{{end}}{{range .null}}{{else}}nil{{end}}", "nonenil"],
    ["{{range $e := .list}}{{$e}}{{if eq $e `a`}}{{continue}}{{end}}!{{break}}{{end}}", "ab!"],
    ["{{$v := ``}}{{range $v = .list}}{{end}}{{$v}}", "b"],
    [
      "{{range .s}}{{end}}",
      '!template: t.tmpl:1:8: executing "t.tmpl" at <.s>: range can\'t iterate over text',
    ],
    [
      "{{range true}}{{end}}",
      '!template: t.tmpl:1:8: executing "t.tmpl" at <true>: range can\'t iterate over true',
    ],
  ],
  "CONFD-TPL-35 fields": [
    ["{{.nowhere}} {{.nowhere.deeper}} {{.pair.Key}}", "<no value> <no value> k"],
    [
      "{{.pair.key}}",
      '!template: t.tmpl:1:7: executing "t.tmpl" at <.pair.key>: can\'t evaluate field key in type interface {}',
    ],
    [
      "{{.null.x}}",
      '!template: t.tmpl:1:7: executing "t.tmpl" at <.null.x>: nil pointer evaluating interface {}.x',
    ],
    [
      "{{.n.x}}",
      '!template: t.tmpl:1:4: executing "t.tmpl" at <.n.x>: can\'t evaluate field x in type interface {}',
    ],
  ],
  "CONFD-TPL-36 a field takes no arguments": [
    [
      "{{.m.x 1}}",
      '!template: t.tmpl:1:4: executing "t.tmpl" at <.m.x>: x is not a method but has arguments',
    ],
    [
      "{{.pair.Key 1}}",
      '!template: t.tmpl:1:7: executing "t.tmpl" at <.pair.Key>: Key has arguments but cannot be invoked as function',
    ],
  ],
  "CONFD-TPL-37 arguments have the type that is asked for": [
    ["{{up 1}}", '!template: t.tmpl:1:5: executing "t.tmpl" at <1>: expected string; found 1'],
    ["{{add 2.5 1}}", '!template: t.tmpl:1:6: executing "t.tmpl" at <2.5>: expected integer; found 2.5'],
    ["{{add 2.0 1}}", "3"],
    [
      "{{add .f 1}}",
      '!template: t.tmpl:1:6: executing "t.tmpl" at <.f>: wrong type for value; expected int; got float64',
    ],
    ["{{up nil}}", '!template: t.tmpl:1:5: executing "t.tmpl" at <nil>: cannot assign nil to string'],
    [
      "{{up .nowhere}}",
      '!template: t.tmpl:1:5: executing "t.tmpl" at <.nowhere>: invalid value; expected string',
    ],
  ],
  "CONFD-TPL-38 as many arguments as parameters": [
    [
      "{{up}}",
      '!template: t.tmpl:1:2: executing "t.tmpl" at <up>: wrong number of args for up: want 1 got 0',
    ],
    [
      "{{`a` | up `b`}}",
      '!template: t.tmpl:1:8: executing "t.tmpl" at <up>: wrong number of args for up: want 1 got 2',
    ],
    [
      "{{eq}}",
      '!template: t.tmpl:1:2: executing "t.tmpl" at <eq>: wrong number of args for eq: want at least 1 got 0',
    ],
  ],
  "CONFD-TPL-39 the error of a function ends the rendering": [
    ['x{{fail "no"}}', '!template: t.tmpl:1:3: executing "t.tmpl" at <fail "no">: error calling fail: no'],
  ],
  "CONFD-TPL-40 and, or end at the argument that decides": [
    ['{{and 0 (fail "x")}} {{or "a" (fail "x")}} {{and 1 "b"}} {{or 0 ``}}|', "0 a b |"],
    [
      "{{and}}",
      '!template: t.tmpl:1:2: executing "t.tmpl" at <and>: wrong number of args for and: want at least 1 got 0',
    ],
  ],
  "CONFD-TPL-41 errors of executing name line, column, template and node": [
    [
      '1\n22{{define "in"}}\n  {{.n.x}}{{end}}{{template "in" .}}',
      '!template: t.tmpl:3:6: executing "in" at <.n.x>: can\'t evaluate field x in type interface {}',
    ],
    [
      'é{{fail "no" | up}}',
      '!template: t.tmpl:1:4: executing "t.tmpl" at <fail "no">: error calling fail: no',
    ],
  ],
  "CONFD-TPL-43 how values are printed": [
    ["{{.list}} {{.m}} {{.pair}} {{.empty}} {{true}}", "[a b] map[x:1 y:2] {k v} [] true"],
    [
      "{{1.0}} {{1.5}} {{1000000.0}} {{999999.0}} {{123456789.0}} {{0.0001}} {{0.00001}}",
      "1 1.5 1e+06 999999 1.23456789e+08 0.0001 1e-05",
    ],
  ],
  "CONFD-FMT-1 flags, width, precision, indexes": [
    ['{{printf "%5d|%-5d|%05d|%+d|% d|%#x" 42 42 42 42 42 255}}', "   42|42   |00042|+42| 42|0xff"],
    ['{{printf "%[2]s %[1]s %*d %.*f %%" "a" "b" 4 7 1 2.55}}', "b a %!(BADWIDTH)4 %!f(int=0000001) %"],
  ],
  "CONFD-FMT-2 verbs": [
    [
      '{{printf "%v %T %t" .list .n true}} {{printf "%b %c %o %O %q %x %X %U" 5 65 8 8 65 255 255 9731}}',
      "[a b] int true 101 A 10 0o10 'A' ff FF U+2603",
    ],
    [
      '{{printf "%e %f %.2f %g %G" 1234.5 1.5 1.555 1e21 1e21}} {{printf "%s %q %x %X" "é" "é" "é" "hi"}}',
      '1.234500e+03 1.500000 1.55 1e+21 1E+21 é "é" c3a9 6869',
    ],
    [
      '{{printf "%+v %#v %#v" .pair .pair .list}} {{printf "%q %d" .list .m}}',
      '{Key:k Value:v} pair.Pair{Key:"k", Value:"v"} []string{"a", "b"} ["a" "b"] map[%!d(string=x):1 %!d(string=y):2]',
    ],
  ],
  "CONFD-FMT-3 mistakes are printed": [
    [
      '{{printf "%d" "x"}} {{printf "%s" 1}} {{printf "%d"}} {{printf "x" 2}} {{printf "%"}} {{printf "%z" 1}} {{printf "%s" nil}} {{printf "%[5]d" 1}}',
      "%!d(string=x) %!s(int=1) %!d(MISSING) x%!(EXTRA int=2) %!(NOVERB) %!z(int=1) %!s(<nil>) %!d(BADINDEX)",
    ],
  ],
};

for (const [rule, cases] of Object.entries(RULES)) {
  describe(rule, () => {
    it.each(cases)(`${rule.split(" ")[0]} %j`, (template, outcome) => {
      expect(play(template)).toBe(outcome.replace(/^!/, ""));
    });
  });
}

it("CONFD-CFG-17 tells what actions print, apart from the template's own text", () => {
  const printed: string[] = [];
  const source = 'own {{"a"}}{{define "part"}}[{{.}}]{{end}}{{template "part" 1}}{{$x := "unseen"}}';
  const template = parseTemplate({ name: "t", source });
  expect([template.render({ onPrint: (text) => printed.push(text) }), printed]).toEqual([
    "own a[1]",
    ["a", "1"],
  ]);
});
