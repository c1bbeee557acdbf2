import { CONTROLLER_INDEX } from "@quartet/core";
import { POD, type Pod } from "@quartet/core/kinds";
import { expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { claim, ORPHANS } from "./claim.ts";
import type { Work } from "./work.ts";

const daemonSet: DaemonSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t", uid: "u" },
  spec: { selector: { matchLabels: { app: "a" } }, template: {} },
};
const pod = (name: string, app: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "t", labels: { app } },
});

it("DSP-1046 asks the indexes for its own pods and for those that nobody controls, and for nothing else", async () => {
  const own = pod("own", "a");
  const asked: string[] = [];
  // A cache without any other member: going through a namespace would throw.
  const cache = {
    byIndex(_kind: unknown, index: string, value: string) {
      asked.push(`${index} ${value}`);
      return index === CONTROLLER_INDEX ? [own] : [pod("stranger", "b")];
    },
  };
  const work = { daemonSet, ctx: { cache } } as unknown as Work;
  const { objects } = await claim(POD, ({ app }) => app === "a", work);
  expect(objects).toEqual([own]);
  expect(asked).toHaveLength(2);
  expect(asked[0]).toMatch(new RegExp(`^${CONTROLLER_INDEX} .*u`));
  expect(asked[1]).toBe(`${ORPHANS} t`);
});
