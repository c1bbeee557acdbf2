import { describe, expect, it } from "vitest";
import type { Claim, Node } from "../desired/k8s.ts";
import { plan, type State } from "./plan.ts";
import { fnv1a, type Volume, volumeFor, wantedBy } from "./volume.ts";

const NOW = Date.UTC(2024, 0, 2);
const HOST = "/host";
const node = (labels: Record<string, string> = { "tars.io/SupportLocalVolume": "" }): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n1", labels: { "kubernetes.io/hostname": "host-1", ...labels } },
});
const LABELS = {
  "tars.io/ServerApp": "Demo",
  "tars.io/ServerName": "EchoServer",
  "tars.io/LocalVolume": "data",
};
const claim = (
  name = "data-demo-echoserver-0",
  more: Partial<Claim> & { annotations?: Record<string, string>; matchLabels?: object } = {},
): Claim =>
  ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "ns1", uid: name, annotations: more.annotations ?? {} },
    spec: {
      storageClassName: "tars-storage-class",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1G" } },
      selector: { matchLabels: more.matchLabels ?? LABELS },
      ...more.spec,
    },
    status: { phase: "Pending", ...(more as { status?: object }).status },
  }) as Claim;
const volumeOf = (phase: string, more: object = {}, policy = "Delete"): Volume => {
  const owner = claim();
  const input = { wanted: wantedBy(owner)!, claim: owner, hostBase: HOST, reclaimPolicy: policy };
  const volume = volumeFor({ ...input, node: { name: "n1", hostname: "host-1" } });
  return {
    ...volume,
    spec: { ...volume.spec, claimRef: { uid: owner.metadata.uid! } },
    status: { phase, ...more },
  };
};
const of = (state: Partial<State>) =>
  plan({
    node: node(),
    claims: [],
    volumes: [],
    reclaimPolicy: "Delete",
    hostBase: HOST,
    limit: 1000,
    now: NOW,
    ...state,
  });

describe("a claim that waits", () => {
  it("TARS-LV-003 TARS-LV-004 gets a folder and a volume on the node", () => {
    const { actions } = of({ claims: [claim()] });
    const hash = fnv1a("n1tars-storage-class").toString(16);
    expect(actions).toEqual([
      {
        type: "provide",
        folder: "ns1/Demo.EchoServer/data",
        owner: { uid: 0, gid: 0, mode: 0o755 },
        volume: {
          apiVersion: "v1",
          kind: "PersistentVolume",
          metadata: {
            name: `ns1-data-demo-echoserver-${hash}`,
            labels: LABELS,
            annotations: { "pv.kubernetes.io/provisioned-by": "tars-local-volume-provisioner" },
          },
          spec: {
            capacity: { storage: "1G" },
            accessModes: ["ReadWriteOnce"],
            local: { path: "/host/ns1/Demo.EchoServer/data" },
            storageClassName: "tars-storage-class",
            persistentVolumeReclaimPolicy: "Delete",
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["host-1"] }],
                  },
                ],
              },
            },
          },
        },
      },
    ]);
  });

  it("TARS-LV-004 the hash is FNV-1a of 32 bits", () => {
    // Vectors of the function's authors
    expect([fnv1a(""), fnv1a("a"), fnv1a("foobar")]).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  });

  it("TARS-LV-004 gets a volume of its own although one of another namespace has its name", () => {
    const ofMount = (namespace: string, mount: string): Claim => {
      const one = claim(namespace, { matchLabels: { ...LABELS, "tars.io/LocalVolume": mount } });
      return { ...one, metadata: { ...one.metadata, namespace } };
    };
    const claims = [ofMount("team", "a-data"), ofMount("team-a", "data")];
    const volumes = of({ claims }).actions.flatMap((action) =>
      action.type === "provide" ? [action.volume] : [],
    );
    const [first = "", second = ""] = volumes.map(({ metadata }) => metadata.name);
    expect(second).toMatch(new RegExp(`^${first}-[0-9a-f]{1,8}$`));
    expect(volumes.map(({ spec }) => spec.local?.path)).toEqual([
      "/host/team/Demo.EchoServer/a-data",
      "/host/team-a/Demo.EchoServer/data",
    ]);
    expect(of({ claims, volumes }).actions).toEqual([]);
  });

  it("TARS-LV-003 owner and mode come from its annotations", () => {
    const annotations = {
      "tars.io/LocalVolumeUID": "1000",
      "tars.io/LocalVolumeGID": "bad",
      "tars.io/LocalVolumeMode": "0700",
    };
    expect(of({ claims: [claim("c", { annotations })] }).actions).toMatchObject([
      { owner: { uid: 1000, gid: 0, mode: 0o700 } },
    ]);
  });

  it("TARS-LV-002 TARS-LV-005 is left alone when it is of another class, or does not say whose it is", () => {
    const other = claim("other", { spec: { storageClassName: "fast" } });
    const mute = claim("mute", { matchLabels: {} });
    const evil = claim("evil", { matchLabels: { ...LABELS, "tars.io/LocalVolume": "../../etc" } });
    expect(of({ claims: [other, mute, evil] })).toEqual({
      ...{ actions: [], skipped: ["ns1/mute", "ns1/evil"], full: [] },
    });
  });

  it("TARS-LV-006 waits for the node's label; one that only binds its pod does not", () => {
    const bind = claim("b", { matchLabels: { ...LABELS, "tars.io/LocalVolume": "delay-bind" } });
    const folders = (labels: Record<string, string>) =>
      of({ node: node(labels), claims: [claim(), bind] }).actions.map(
        (action) => "folder" in action && action.folder,
      );
    expect(folders({})).toEqual([]);
    expect(folders({ "tars.io/node": "" })).toEqual(["ns1/Demo.EchoServer/delay-bind"]);
  });

  it("TARS-LV-007 of several claims of a mount one gets the node's volume", () => {
    const claims = [claim("data-demo-echoserver-0"), claim("data-demo-echoserver-1")];
    expect(of({ claims }).actions).toHaveLength(1);
    const types = of({ claims, volumes: [volumeOf("Bound")] }).actions.map(({ type }) => type);
    expect(types).toEqual(["own"]);
  });

  it("TARS-LV-014 waits when its namespace has as many volumes on the node as it may have; others do not", () => {
    const ofMount = (namespace: string, mount: string): Claim => {
      const one = claim(mount, { matchLabels: { ...LABELS, "tars.io/LocalVolume": mount } });
      return { ...one, metadata: { ...one.metadata, namespace } };
    };
    const claims = [ofMount("ns1", "data"), ofMount("ns1", "b"), ofMount("ns1", "c"), ofMount("ns2", "d")];
    const { actions, full } = of({ claims, volumes: [volumeOf("Available")], limit: 2 });
    expect(actions.map((action) => "folder" in action && action.folder)).toEqual([
      "ns1/Demo.EchoServer/b",
      "ns2/Demo.EchoServer/d",
    ]);
    expect(full).toEqual(["ns1"]);
    expect(of({ claims, limit: 3 }).full).toEqual([]);
  });
});

describe("a volume", () => {
  const bound = (annotations: Record<string, string>) =>
    claim(undefined, { annotations, status: { phase: "Bound" }, spec: { volumeName: "v" } } as object);

  it("TARS-LV-008 follows the owner and mode of its claim", () => {
    const claims = [bound({ "tars.io/LocalVolumeMode": "700" })];
    expect(of({ claims, volumes: [volumeOf("Bound")] }).actions).toEqual([
      { type: "own", folder: "ns1/Demo.EchoServer/data", owner: { uid: 0, gid: 0, mode: 0o700 } },
    ]);
  });

  it.each([
    ["Delete", "ns1/Demo.EchoServer/data"],
    ["Retain", undefined],
  ])("TARS-LV-009 goes with its claim; with %s its folder: %s", (policy, remove) => {
    const released = volumeOf("Released", {}, policy);
    expect(of({ volumes: [released] }).actions).toEqual([{ type: "drop", volume: released, remove }]);
  });

  it("TARS-LV-009 goes without its folder when a claim of another namespace had bound it", () => {
    const taken = volumeOf("Released");
    taken.spec.claimRef = { namespace: "ns", name: "thief", uid: "thief" };
    expect(of({ volumes: [taken] }).actions).toEqual([{ type: "drop", volume: taken, remove: undefined }]);
    taken.spec.claimRef = { namespace: "ns1", name: "own", uid: "own" };
    expect(of({ volumes: [taken] }).actions).toMatchObject([{ remove: "ns1/Demo.EchoServer/data" }]);
  });

  it("TARS-LV-009 never has a folder removed that is not below the base", () => {
    const released = volumeOf("Released");
    released.spec.local!.path = "/etc/passwd";
    expect(of({ volumes: [released] }).actions).toMatchObject([{ type: "drop", remove: undefined }]);
  });

  it("TARS-LV-011 that nobody takes for a day goes, its folder stays", () => {
    const at = (ageMs: number) =>
      volumeOf("Available", { lastPhaseTransitionTime: new Date(NOW - ageMs).toISOString() });
    const day = 86_400_000;
    expect(of({ volumes: [at(day - 1)] }).actions).toEqual([]);
    expect(of({ volumes: [at(day)] }).actions).toMatchObject([{ type: "drop", remove: undefined }]);
  });

  it("TARS-LV-010 is left alone on another node, of another class, or while it is going", () => {
    const other = volumeOf("Released");
    other.spec.nodeAffinity!.required!.nodeSelectorTerms![0]!.matchExpressions![0]!.values = ["host-2"];
    const foreign = volumeOf("Released");
    foreign.spec.storageClassName = "fast";
    const going = volumeOf("Released");
    going.metadata.deletionTimestamp = "2024-01-01T00:00:00Z";
    expect(of({ volumes: [other, foreign, going] }).actions).toEqual([]);
  });
});
