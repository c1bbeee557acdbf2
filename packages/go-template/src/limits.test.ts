import { describe, expect, it } from "vitest";
import { bytesOf, LimitError, type Limits, parseTemplate, TemplateError } from "./index.ts";
import { MAX_NESTING } from "./token-reader.ts";

const render = (source: string, limits: Partial<Limits> = {}): string =>
  parseTemplate({ name: "t.tmpl", source: bytesOf(source) }).render({ limits });

describe("limits", () => {
  it("CONFD-TPL-42 templates that call themselves are stopped at the limit and not before", () => {
    const recursive = (depth: number): string =>
      `{{define "R"}}{{if lt (len .) ${depth}}}{{template "R" (print . "x")}}{{else}}{{len .}}{{end}}{{end}}{{template "R" ""}}`;
    expect(render(recursive(999))).toBe("999");
    expect(() => render(recursive(1000))).toThrow(
      'executing "R" at <{{template "R" (print . "x")}}>: exceeded maximum template depth (1000)',
    );
    expect(() => render('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}')).toThrow(LimitError);
  });

  it.each([
    ["a long loop", "{{range 100000000}}{{end}}", "stopped after 5000000 steps: does the template loop?", {}],
    [
      "a loop in a loop",
      "{{range 10000}}{{range 10000}}{{end}}{{end}}",
      "stopped after 50000 steps",
      { steps: 50_000 },
    ],
    ["much text", '{{range 200}}{{printf "%1000000d" 1}}{{end}}', "rendered text exceeds 67108864 bytes", {}],
    [
      "text that doubles",
      '{{$x := "xxxxxxxx"}}{{range 64}}{{$x = print $x $x}}{{end}}',
      "functions made more than 1000000 bytes of text",
      { madeBytes: 1_000_000 },
    ],
    [
      "searching a long text again and again",
      '{{$x := printf "%1000000d" 1}}{{range 1000000}}{{if eq $x "x"}}{{end}}{{end}}',
      "stopped after 50000 steps",
      { steps: 50_000 },
    ],
  ])("CONFD-TPL-42 stops %s with its position", (_what, source, problem, limits) => {
    expect(() => render(source, limits)).toThrow(problem);
    expect(() => render(source, limits)).toThrow(/^template: t\.tmpl:1:\d+: executing "t\.tmpl" at </);
  });

  it.each([
    ["parentheses", (depth: number) => `{{${"(".repeat(depth)}1${")".repeat(depth)}}}`],
    ["conditions", (depth: number) => `${"{{if 1}}".repeat(depth)}1${"{{end}}".repeat(depth)}`],
    ["else if", (depth: number) => `{{if 0}}${"{{else if 0}}".repeat(depth - 2)}{{else if 1}}1{{end}}`],
  ])("CONFD-TPL-42 refuses %s that stand too deep in each other", (_what, source) => {
    expect(render(source(MAX_NESTING))).toBe("1");
    expect(() => render(source(MAX_NESTING + 1))).toThrow(TemplateError);
    expect(() => render(source(200_000))).toThrow("nested more than 500 deep");
  });

  it("CONFD-TPL-42 survives deep nesting within deep calls", () => {
    const body = `${"{{if 1}}".repeat(400)}{{template "R"}}${"{{end}}".repeat(400)}`;
    expect(() => render(`{{define "R"}}${body}{{end}}{{template "R"}}`)).toThrow(LimitError);
  });

  it.each([
    ["a number of a million digits", `{{${"9".repeat(1_000_000)}}}`],
    ["a float of a million digits", `{{${"9".repeat(1_000_000)}x}}`],
    ["a million spaces", `{{${" ".repeat(1_000_000)}-}}`],
    ["a million open actions", "{{ ".repeat(300_000)],
    ["a million quotes", '{{"'.repeat(300_000)],
  ])("CONFD-TPL-42 reads %s in linear time", (_what, source) => {
    expect(() => render(source)).toThrow(TemplateError);
  });
});
