import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineKind, type KubeObject } from "../object.ts";
import { convert, convertReview, stashConversionData, takeConversionData } from "./conversion.ts";
import { type Conversion, conversion, type Spoke } from "./types.ts";
import { silentLog } from "./webhook.testkit.ts";

interface Thing extends KubeObject {
  spec: { size?: number; width?: number; height?: number };
}

interface OldThing extends KubeObject {
  spec: { size?: number };
}

const THING = defineKind<Thing>({
  group: "test.quartet.io",
  version: "v2",
  kind: "Thing",
  plural: "things",
  namespaced: true,
});

/** v1 has one size; v2, the hub, has width and height. */
const V1: Spoke<Thing, OldThing> = {
  version: "v1",
  toHub(object) {
    const height = takeConversionData(object) as number | undefined;
    const width = object.spec.size!;
    return { ...object, spec: { width, height: height ?? width } };
  },
  fromHub({ spec, ...rest }) {
    const result = { ...rest, spec: { size: spec.width! } };
    stashConversionData(result, spec.height === spec.width ? undefined : spec.height);
    return result;
  },
};
const things: Conversion = conversion(THING, [V1]);

const thing = (version: string, spec: Thing["spec"], metadata: object = {}): Thing => ({
  apiVersion: `test.quartet.io/${version}`,
  kind: "Thing",
  metadata: { name: "a", uid: "u", ...metadata },
  spec,
});
const reviewOf = (objects: KubeObject[], desiredAPIVersion: string): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "ConversionReview",
  request: { uid: "u-1", desiredAPIVersion, objects },
});

describe("conversion", () => {
  it("CORE-345 converts all objects in their order", () => {
    const objects = [thing("v1", { size: 1 }), thing("v1", { size: 2 })];
    const { response } = convertReview([things], reviewOf(objects, "test.quartet.io/v2"), silentLog);
    expect(response).toMatchObject({ uid: "u-1", result: { status: "Success" } });
    expect(response.convertedObjects.map((object) => (object as Thing).spec)).toEqual([
      { width: 1, height: 1 },
      { width: 2, height: 2 },
    ]);
  });

  it("CORE-345 keeps what the target version has no place for: a round trip is the identity", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (width, height) => {
        const v2 = thing("v2", { width, height }, { annotations: { mine: "1" } });
        const v1 = convert([things], v2, "test.quartet.io/v1", silentLog);
        expect(convert([things], v1, "test.quartet.io/v2", silentLog)).toEqual(v2);
      }),
    );
  });

  it.each<[string, KubeObject, string, RegExp]>([
    ["the same version", thing("v2", {}), "test.quartet.io/v2", /is already of/],
    ["another group", thing("v2", {}), "other.io/v1", /cannot convert from group/],
    ["an unknown version", thing("v2", {}), "test.quartet.io/v9", /no conversion is known for version v9/],
    [
      "an unknown kind",
      { ...thing("v2", {}), kind: "Other" },
      "test.quartet.io/v1",
      /no conversion is known for this kind/,
    ],
  ])(
    "CORE-345 fails as a whole, with a message and no objects, for %s",
    (_what, object, desired, message) => {
      const body = reviewOf([thing("v1", { size: 1 }), object], desired);
      const { response } = convertReview([things], body, silentLog);
      expect(response.result).toEqual({ status: "Failure", message: expect.stringMatching(/./) });
      expect(response.convertedObjects).toEqual([]);
      expect(() => convert([things], object, desired, silentLog)).toThrow(message);
    },
  );

  it("CORE-345 fails when a conversion touches metadata beyond labels and annotations", () => {
    const renaming = conversion(THING, [
      {
        version: "v1",
        toHub: (object: Thing) => object,
        fromHub: (object) => ({ ...object, metadata: { ...object.metadata, name: "b" } }),
      },
    ]);
    expect(() => convert([renaming], thing("v2", {}), "test.quartet.io/v1", silentLog)).toThrow(
      /changed metadata/,
    );
  });
});
