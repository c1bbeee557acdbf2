import type { ReconcileContext } from "@quartet/core";
import { expect, it } from "vitest";
import { reconcileNode } from "./node.ts";

const path = "/metadata/labels/tars.io~1node";
it.each([
  ["of a namespace that is not marked yet", { "tars.io/node.ns1": "" }, [{ op: "add", path, value: "" }]],
  ["of a namespace that is marked", { "tars.io/node.ns1": "", "tars.io/node": "" }, undefined],
  ["of no namespace any more", { "tars.io/node": "", other: "1" }, [{ op: "remove", path }]],
  ["of no namespace", { other: "1" }, undefined],
])("TARS-R-095 a node %s", async (_what, labels, operations) => {
  const patches: unknown[] = [];
  await reconcileNode({ namespace: "", name: "n" }, {
    cache: { get: async () => ({ metadata: { name: "n", labels } }) },
    client: {
      patch: async (_kind: object, _key: object, patch: { operations: object }) =>
        patches.push(patch.operations),
    },
  } as unknown as ReconcileContext);
  expect(patches).toEqual(operations === undefined ? [] : [operations]);
});
