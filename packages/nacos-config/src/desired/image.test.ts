import { describe, expect, it } from "vitest";
import { imageVersion, isAtLeast } from "./image.ts";

describe("image version", () => {
  it.each([
    ["nacos/nacos-server:v2.4.3", "2.4.3"],
    ["nacos/nacos-server:3.0.1-slim", "3.0.1"],
    ["registry:5000/nacos/nacos-server:1.4", "1.4.0"],
    ["nacos/nacos-server:v3.1.0@sha256:0123", "3.1.0"],
    ["nacos/nacos-server:latest", "unknown"],
    ["registry:5000/nacos", "unknown"],
    ["nacos@sha256:0123", "unknown"],
    ["nacos:2", "unknown"],
  ])("reads %s as %s", (image, expected) => {
    const version = imageVersion(image);
    expect(version === undefined ? "unknown" : `${version.major}.${version.minor}.${version.patch}`).toBe(
      expected,
    );
  });

  it("compares by major, minor and patch, and never claims an unknown version", () => {
    expect(isAtLeast(imageVersion("n:2.1.1"), 2, 1, 1)).toBe(true);
    expect(isAtLeast(imageVersion("n:2.1.0"), 2, 1, 1)).toBe(false);
    expect(isAtLeast(imageVersion("n:3.0.0"), 2, 1, 1)).toBe(true);
    expect(isAtLeast(undefined, 0)).toBe(false);
  });
});
