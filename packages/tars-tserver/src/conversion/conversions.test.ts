import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TFrameworkConfig, TServerV1Beta3 } from "../api.gen.ts";
import { echoServer } from "../fixtures.testkit.ts";
import { CARRY_ANNOTATION } from "../labels.ts";
import {
  frameworkFromV1Beta3,
  frameworkToV1Beta3,
  serverFromV1Beta3,
  serverToV1Beta3,
} from "./conversions.ts";

const V3 = "k8s.tars.io/v1beta3";

describe("TServer", () => {
  const lists = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 3 });

  it("TARS-CV-001 TARS-CV-002 TARS-CV-004 v1beta3 comes back as it was", () => {
    fc.assert(
      fc.property(lists, lists, lists, (command, args, readinessGates) => {
        const server = { ...echoServer(), apiVersion: V3 } as TServerV1Beta3;
        Object.assign(
          server.spec.k8s!,
          command.length > 0 && { command },
          args.length > 0 && { args },
          readinessGates.length > 0 && { readinessGates },
        );
        const before = structuredClone(server);
        const stored = serverFromV1Beta3(server);
        expect(stored.spec.k8s?.readinessGate).toBe(readinessGates[0]);
        expect({ ...serverToV1Beta3(stored), apiVersion: V3 }).toEqual(before);
      }),
    );
  });

  it("TARS-CV-007 metadata stays as it is but for the annotation", () => {
    const metadata = {
      ...{
        labels: { a: "b" },
        annotations: { c: "d" },
        finalizers: ["f"],
        resourceVersion: "7",
        generation: 2,
      },
      managedFields: [{ manager: "m" }],
    };
    const server = { ...echoServer({}, metadata), apiVersion: V3 } as TServerV1Beta3;
    Object.assign(server.spec.k8s!, { command: ["run"] });
    const stored = serverFromV1Beta3(structuredClone(server));
    const { [CARRY_ANNOTATION]: carried, ...annotations } = stored.metadata.annotations ?? {};
    expect(carried).toContain("run");
    expect({ ...stored.metadata, annotations }).toEqual(server.metadata);
    expect(serverToV1Beta3(stored).metadata).toEqual(server.metadata);
  });

  it("TARS-CV-002 reads null for an empty list, as the peer writes it", () => {
    const append = { command: null, args: ["-v"], readinessGates: null };
    const annotations = { [CARRY_ANNOTATION]: JSON.stringify({ append, drop: {} }), other: "1" };
    const server = echoServer({ k8s: { readinessGate: "g" } }, { annotations });
    const converted = serverToV1Beta3(server);
    expect(converted.spec.k8s).toEqual({ readinessGates: ["g"], args: ["-v"] });
    expect(converted.metadata.annotations).toEqual({ other: "1" });
  });

  it.each(["{", "null", '{"append":7}', '{"append":{"command":"x"}}'])(
    "TARS-CV-005 a broken annotation is dropped: %s",
    (text) => {
      const server = echoServer(
        { k8s: { readinessGate: "g" } },
        { annotations: { [CARRY_ANNOTATION]: text } },
      );
      expect(serverToV1Beta3(server).spec.k8s).toEqual({ readinessGates: ["g"] });
    },
  );
});

describe("TFrameworkConfig", () => {
  const config: TFrameworkConfig = {
    apiVersion: "k8s.tars.io/v1beta2",
    kind: "TFrameworkConfig",
    metadata: { name: "tars-framework", namespace: "t" },
    imageRegistry: { registry: "r.example/t" },
    nodeImage: { image: "r.example/node:1" },
  };

  it("TARS-CV-003 TARS-CV-008 v1beta3 is complete although v1beta2 says nothing of building", () => {
    const { imageBuild, imageUpload } = frameworkToV1Beta3(structuredClone(config));
    expect(imageBuild).toEqual({ maxBuildTime: 300, executor: { image: "", secret: "" } });
    expect(imageUpload).toEqual(config.imageRegistry);
  });

  it("TARS-CV-003 TARS-CV-004 the image that builds comes back", () => {
    const v3 = frameworkToV1Beta3(structuredClone(config));
    v3.imageBuild.executor = { image: "r.example/executor:1", secret: "s" };
    const before = structuredClone(v3);
    expect(frameworkToV1Beta3(frameworkFromV1Beta3(v3))).toEqual(before);
  });
});
