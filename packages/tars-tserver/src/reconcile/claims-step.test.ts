import { expect, it } from "vitest";
import { modelOf } from "../desired/model.ts";
import { echoServer } from "../fixtures.testkit.ts";
import { annotateClaims } from "./claims-step.ts";
import type { Pass } from "./pass.ts";

it("TARS-R-035 claims of local volumes are annotated, those that are right or going are left alone", async () => {
  const mounts = [
    { name: "data", mountPath: "/a", source: { tLocalVolume: { uid: "7", mode: "700" } } },
    { name: "other", mountPath: "/b", source: { emptyDir: {} } },
  ];
  const server = echoServer({ k8s: { mounts } });
  const claim = (name: string, annotations: Record<string, string>, more: object = {}) => ({
    metadata: { name, namespace: "ns1", annotations, ...more },
  });
  const right = {
    ...{ "tars.io/LocalVolumeUID": "7", "tars.io/LocalVolumeGID": "0", "tars.io/LocalVolumeMode": "700" },
  };
  const listed: unknown[] = [];
  const patched: unknown[] = [];
  const claims = [
    claim("new", {}),
    claim("stale", { ...right, "tars.io/LocalVolumeMode": "755", mine: "1" }),
    claim("right", { ...right, mine: "1" }),
    claim("going", {}, { deletionTimestamp: "2024-01-01T00:00:00Z" }),
  ];
  await annotateClaims({
    model: modelOf(server),
    informers: {
      claims: {
        list(filter: object) {
          listed.push(filter);
          return claims;
        },
      },
    },
    ctx: {
      client: {
        patch: async (_kind: object, { name }: { name: string }, { body }: { body: object }) =>
          patched.push([name, body]),
      },
    },
  } as unknown as Pass);
  const labels = {
    ...{ "tars.io/ServerApp": "Demo", "tars.io/ServerName": "EchoServer", "tars.io/LocalVolume": "data" },
  };
  expect(listed).toEqual([{ namespace: "ns1", labels }]);
  const body = { metadata: { annotations: right } };
  expect(patched).toEqual([
    ["new", body],
    ["stale", body],
  ]);
});
