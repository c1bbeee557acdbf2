import { describe, expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { mirrored } from "./mirror.ts";

const PATCHES = "daemonset.kruise.io/patches";
const item = (value: string) => ({ selector: {}, patch: { metadata: { annotations: { a: value } } } });
const text = (...items: ReturnType<typeof item>[]): string =>
  JSON.stringify(items.map(({ patch, selector }) => ({ patch, selector })));
const set = (patches?: object[], annotation?: string): DaemonSet =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    metadata: { name: "a", annotations: { keep: "1", ...(annotation && { [PATCHES]: annotation }) } },
    spec: { selector: {}, template: {}, ...(patches && { patches }) },
  }) as unknown as DaemonSet;
const annotationOf = ({ metadata }: DaemonSet) => metadata.annotations?.[PATCHES];

describe("mirror of patches", () => {
  it("DSP-206 DSP-207 the annotation gets the canonical list, without keys that nobody wrote", () => {
    const { daemonSet, warning } = mirrored(set([item("1")]), undefined);
    expect(annotationOf(daemonSet)).toBe(text(item("1")));
    expect(daemonSet.metadata.annotations?.keep).toBe("1");
    expect(warning).toBeUndefined();
  });

  it("DSP-208 it goes with the last patch", () => {
    const old = set([item("1")], text(item("1")));
    expect(annotationOf(mirrored(set(undefined, text(item("1"))), old).daemonSet)).toBeUndefined();
    expect(annotationOf(mirrored(set([], text(item("1"))), old).daemonSet)).toBeUndefined();
  });

  it("DSP-209 where the field never was, the annotation becomes it", () => {
    const { daemonSet } = mirrored(set(undefined, text(item("1"))), set(undefined, text(item("1"))));
    expect(daemonSet.spec.patches).toEqual([item("1")]);
    expect(mirrored(set(undefined, "nonsense"), undefined).daemonSet.spec.patches).toBeUndefined();
    expect(mirrored(set(undefined, "[]"), undefined).daemonSet.spec.patches).toBeUndefined();
  });

  it("DSP-210 an edit of the annotation alone is undone, and the user is told what counts", () => {
    const old = set([item("1")], text(item("1")));
    const { daemonSet, warning } = mirrored(set([item("1")], text(item("2"))), old);
    expect(annotationOf(daemonSet)).toBe(text(item("1")));
    expect(warning).toContain("spec.patches");
    expect(mirrored(set([item("2")], text(item("1"))), old).warning).toBeUndefined();
  });
});
