import { describe, expect, it } from "vitest";
import { nested } from "../testkit/nested.ts";
import { expectLinear } from "../testkit/worst-input.ts";
import { differences } from "./difference.ts";

const set = { group: "apps", kind: "StatefulSet" };
const secret = { group: "", kind: "Secret" };
const lines = (kind: typeof set, before: unknown, after: unknown): string[] =>
  differences(kind, before, after).map(({ line }) => line);

describe("differences", () => {
  it("CORE-242 names fields that come, go and change, items of lists by their name", () => {
    const before = {
      metadata: { name: "a", labels: { old: "1" } },
      spec: { replicas: 2, template: { containers: [{ name: "main", image: "x:1" }, { name: "side" }] } },
    };
    const after = {
      metadata: { name: "a", labels: { "app.io/new": "2" } },
      spec: { replicas: 3, template: { containers: [{ name: "main", image: "x:2", args: ["-v"] }] } },
    };
    expect(lines(set, before, after)).toEqual([
      "- metadata.labels.old: 1",
      '+ metadata.labels["app.io/new"]: 2',
      "~ spec.replicas: 2 -> 3",
      "~ spec.template.containers[main].image: x:1 -> x:2",
      '+ spec.template.containers[main].args: ["-v"]',
      "- spec.template.containers[side].name: side",
    ]);
  });

  it("CORE-242 leaves out status and what the server keeps, and tells a mere order", () => {
    const before = { metadata: { name: "a", resourceVersion: "1", generation: 1 }, status: { ready: 1 } };
    const after = { metadata: { name: "a", resourceVersion: "2", generation: 2, uid: "u" }, status: {} };
    expect(lines(set, before, after)).toEqual([]);
    const [one, two] = [{ name: "1" }, { name: "2" }];
    expect(lines(set, { list: [one, two] }, { list: [two, one] })).toEqual(["~ list: order"]);
  });

  it("CORE-242 shows no value of a Secret, of a field or variable named like one, and no long text", () => {
    const env = (value: string): object => ({
      spec: {
        password: value,
        env: [
          { name: "DB_PASSWORD", value },
          { name: "NACOS_AUTH_X", value },
        ],
      },
      data: { text: `first\n${value}\n`, long: value.padEnd(200, "x") },
    });
    const data = (value: string): object => ({
      metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": value } },
      data: { key: value },
      stringData: { other: value },
    });
    const found = [
      ...differences(set, env("s3cret-1"), env("s3cret-2")),
      ...differences(set, undefined, env("s3cret-2")),
      ...differences(secret, data("s3cret-1"), data("s3cret-2")),
    ];
    expect(JSON.stringify(found)).not.toContain("s3cret");
    expect(found.map(({ line }) => line)).toEqual(
      expect.arrayContaining([
        "~ spec.password: [redacted] -> [redacted]",
        "~ spec.env[DB_PASSWORD].value: [redacted] -> [redacted]",
        "~ data.text: text of 2 lines, 1 added, 1 removed",
        "~ data.key: [redacted] -> [redacted]",
        "~ stringData.other: [redacted] -> [redacted]",
      ]),
    );
  });

  it("CORE-242 shows the literals of environment variables and headers by a list of harmless names alone", () => {
    const names = ["MYSQL_PWD", "X", "JAVA_OPT", "MODE", "NACOS_SERVERS"];
    const template = (value: string): object => ({
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: "main",
                env: names.map((name) => ({ name, value })),
                livenessProbe: { httpGet: { httpHeaders: [{ name: "X-Key", value }] } },
              },
            ],
          },
        },
      },
    });
    const shown = [
      ...lines(set, template("literal-1"), template("literal-2")),
      ...lines(set, undefined, template("literal-2")),
    ].filter((line) => line.includes("literal-"));
    expect(shown.map((line) => /\[([A-Z_]+)\]\.value/.exec(line)?.[1]).sort()).toEqual([
      ...["MODE", "MODE", "NACOS_SERVERS", "NACOS_SERVERS"],
    ]);
  });

  it("CORE-242 tells two contents of a long text apart, but not two values of a secret", () => {
    const marks = (kind: typeof set, value: string): string[] =>
      differences(kind, { data: { a: "x\n" } }, { data: { a: `${value}\n` } }).map(({ mark }) => mark);
    expect(marks(set, "1")).not.toEqual(marks(set, "2"));
    expect(marks(secret, "1")).toEqual(marks(secret, "2"));
  });

  it("CORE-191 CORE-242 says so when an object is nested too deep to be compared", () => {
    expect(lines(set, { spec: nested(9_000) }, { spec: {} })).toEqual([
      "~ (not compared: nested deeper than 200 levels)",
    ]);
  });

  it("CORE-193 CORE-242 counts the lines of long texts in linear time", () => {
    const text = (size: number, mark: string): string =>
      Array.from({ length: size / 8 }, (_, line) => `${line}${mark}`).join("\n");
    expectLinear((size) => lines(set, { data: text(size, "a") }, { data: text(size, "b") }));
  });
});
