import { type Claim, claimOf } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import type { Nacos } from "../api.gen.ts";
import { nacos, stored } from "../fixtures.testkit.ts";
import { finalConfigObject, legacyConfigObject, updatedConfigObject } from "./config-object.ts";
import { FAMILY } from "./family.ts";
import { fixedLabels } from "./names.ts";
import { isForcedAdoption } from "./settings.ts";

const resource = nacos(
  {},
  { labels: { team: "a" }, annotations: { "example.org/x": "1", "kubectl.kubernetes.io/y": "2" } },
);
const final = (content: string, finalKind: "ConfigMap" | "Secret" = "ConfigMap"): ConfigObject =>
  finalConfigObject(resource, { finalKind, finalName: "f" }, { content, digest: `digest-of-${content}` });

describe("generated configuration object", () => {
  it("NACOS-312 holds exactly the merged text, with labels, annotations and owner", () => {
    expect(final("a=1\n")).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "f",
        namespace: "t",
        labels: { team: "a", ...fixedLabels("demo") },
        annotations: {
          "example.org/x": "1",
          "nacos.io/generated-for": "uid-demo",
          "nacos.io/config-digest": "digest-of-a=1\n",
          "nacos.io/inherited": '{"labels":["team"],"annotations":["example.org/x"]}',
        },
        ownerReferences: [
          {
            apiVersion: "nacos.io/v1alpha1",
            kind: "Nacos",
            name: "demo",
            uid: "uid-demo",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      data: { "application.properties": "a=1\n" },
    });
  });

  it("NACOS-312 NACOS-350 is an Opaque Secret when it must be", () => {
    const { kind, type, data } = final("中", "Secret");
    expect({ kind, type }).toEqual({ kind: "Secret", type: "Opaque" });
    expect(Buffer.from(data!["application.properties"]!, "base64").toString()).toBe("中");
  });

  it("NACOS-204 needs nothing as it was written, and nothing for what others added to its metadata", () => {
    const live = stored(final("a"));
    live.metadata.labels!.foreign = "1";
    live.metadata.annotations!["foreign.io/x"] = "1";
    expect(updatedConfigObject(final("a"), live)).toMatchObject({ action: "none", drift: false });
  });

  it.each<[what: string, edit: (live: ConfigObject) => void]>([
    [
      "changed data",
      (live) => {
        live.data!["application.properties"] = "x";
      },
    ],
    [
      "a removed key",
      (live) => {
        live.data = {};
      },
    ],
    [
      "an extra key",
      (live) => {
        live.data!.more = "x";
      },
    ],
    [
      "binary data",
      (live) => {
        live.binaryData = { more: "AA==" };
      },
    ],
    [
      "a removed label",
      (live) => {
        delete live.metadata.labels!.middleware;
      },
    ],
  ])("NACOS-336 restores %s and calls it drift", (_what, edit) => {
    const live = stored(final("a"));
    edit(live);
    const { action, object, drift } = updatedConfigObject(final("a"), live);
    expect({ action, drift }).toEqual({ action: "update", drift: true });
    expect(object.data).toEqual(final("a").data);
    expect(object).not.toHaveProperty("binaryData");
    expect(object.metadata.labels).toMatchObject(fixedLabels("demo"));
  });

  it("NACOS-336 does not take new content or a label of the resource for drift", () => {
    const changed = updatedConfigObject(final("b"), stored(final("a")));
    expect(changed).toMatchObject({ action: "update", contentChanged: true, drift: false });
    const live = stored(final("a"));
    live.metadata.labels!.team = "old";
    expect(updatedConfigObject(final("a"), live)).toMatchObject({
      action: "update",
      contentChanged: false,
      drift: false,
    });
  });

  it("NACOS-338 replaces an immutable object for other content alone", () => {
    const live = { ...stored(final("a")), immutable: true };
    expect(updatedConfigObject(final("b"), live).action).toBe("replace");
    expect(updatedConfigObject(final("a"), live).action).toBe("none");
  });

  it("NACOS-361 holds the legacy text as it is, under the resource's name", () => {
    const { metadata, data } = legacyConfigObject(resource, "k=v");
    expect(metadata.name).toBe("demo");
    expect(data).toEqual({ "custom.properties": "k=v" });
  });
});

describe("whose an object is", () => {
  const owner = (uid: string, name = "demo", kind = "Nacos") => [
    { apiVersion: kind === "Nacos" ? "nacos.io/v1alpha1" : "v1", kind, name, uid, controller: true },
  ];
  const object = (metadata: object): ConfigObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata });
  const labels = { app: "demo", middleware: "nacos" };
  const claim = (found: ConfigObject, owned: Nacos = resource, byAnnotation = false): Claim =>
    claimOf(FAMILY, owned, found, byAnnotation && isForcedAdoption(owned));
  const adopting = nacos({}, { annotations: { "nacos.io/adopt": "true" } });

  it("NACOS-333 NACOS-334 NACOS-413 adopts what nobody controls and carries our labels, and nothing else", () => {
    expect(claim(object({ ownerReferences: owner("uid-demo") }), resource).state).toBe("ours");
    expect(claim(object({ labels }), resource).state).toBe("adoptable");
    expect(claim(object({ labels: { app: "demo" } }), resource)).toEqual({
      state: "foreign",
      owner: "unmanaged",
    });
    const others = object({ labels, ownerReferences: owner("u2", "other") });
    expect(claim(others, resource)).toEqual({ state: "foreign", owner: "Nacos other" });
    expect(
      claim(object({ labels, ownerReferences: owner("u3", "demo", "ReplicaSet") }), adopting, true).state,
    ).toBe("foreign");
  });

  it("NACOS-413 adopts without labels when the resource says so, where that counts", () => {
    expect(claim(object({}), adopting, true).state).toBe("adoptable");
    expect(claim(object({}), adopting).state).toBe("foreign");
    expect(claim(object({}), resource, true).state).toBe("foreign");
  });

  it("NACOS-1005 NACOS-1006 waits for children of an earlier resource, and re-adopts orphans", () => {
    expect(claim(object({ labels, ownerReferences: owner("uid-old") }), resource).state).toBe("leaving");
    const going = object({ labels, deletionTimestamp: "now", ownerReferences: owner("uid-demo") });
    expect(claim(going, resource).state).toBe("leaving");
    expect(claim(object({ labels, ownerReferences: [] }), resource).state).toBe("adoptable");
  });
});
