import { describe, expect, it } from "vitest";
import { carryTemplate, overLive } from "./carry.ts";

const of = (container: object, more: object = {}) => ({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "a", ...container }], ...more },
});

describe("carryTemplate", () => {
  it("CORE-325 brings what has changed, and leaves alone what others made", () => {
    const live = of(
      {
        image: "i:1",
        env: [
          { name: "OLD", value: "x" },
          { name: "HAND", value: "y" },
        ],
        lifecycle: { preStop: {} },
      },
      { hostNetwork: true },
    );
    const last = of({ image: "i:1", env: [{ name: "OLD", value: "x" }] });
    const next = of({ image: "i:2", env: [{ name: "NEW", value: "z" }] });
    expect(carryTemplate(last, next, live).spec).toEqual({
      containers: [
        {
          name: "a",
          image: "i:2",
          env: expect.arrayContaining([
            { name: "HAND", value: "y" },
            { name: "NEW", value: "z" },
          ]),
          lifecycle: { preStop: {} },
        },
      ],
      hostNetwork: true,
    });
    expect(carryTemplate(last, last, live)).toEqual(live);
  });

  it("CORE-325 changes of several variables of one name the one that counts", () => {
    const env = [
      { name: "A", value: "shadowed" },
      { name: "A", value: "1" },
    ];
    const carried = carryTemplate(
      of({ env: [{ name: "A", value: "1" }] }),
      of({ env: [{ name: "A", value: "2" }] }),
      of({ env }),
    );
    expect(carried.spec.containers[0]).toMatchObject({ env: [{ name: "A", value: "2" }] });
  });
});

describe("overLive", () => {
  it("CORE-325 keeps the live labels and the annotations of others, and drops its own that is no longer set", () => {
    const live = {
      metadata: { labels: { app: "a", frozen: "x" }, annotations: { digest: "1", other: "y" } },
      spec: {},
    };
    const next = { metadata: { labels: { app: "a" } }, spec: { hostNetwork: true } };
    expect(overLive(next as unknown as typeof live, live, ["digest"])).toEqual({
      metadata: { labels: { app: "a", frozen: "x" }, annotations: { other: "y" } },
      spec: { hostNetwork: true },
    });
  });
});
