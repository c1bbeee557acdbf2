import { expect, it } from "vitest";
import { RIGHTS } from "./rights.ts";

const READ = "get list watch";
const EVERYBODY = {
  nodes: READ,
  leases: READ,
  customresourcedefinitions: READ,
  mutatingwebhookconfigurations: READ,
  "podtemplates (optional)": "create",
};

/** What a mode may do, as `resource: verbs`. */
function columnOf(mode: string): Record<string, string> {
  const column = new Map<string, Set<string>>();
  for (const { kind, verbs, subresource, when, optional } of RIGHTS) {
    if (when !== undefined && !(when.is as readonly unknown[]).includes(mode)) continue;
    const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
    const id = optional === undefined ? resource : `${resource} (optional)`;
    column.set(id, new Set([...(column.get(id) ?? []), ...verbs]));
  }
  return Object.fromEntries([...column].map(([id, verbs]) => [id, [...verbs].sort().join(" ")]));
}

it("DSP-1031 an owner makes, changes and removes pods and revisions, and writes the status", () => {
  const column = {
    ...EVERYBODY,
    pods: "create delete get list patch watch",
    "pods/status": "patch",
    controllerrevisions: "create delete get list patch watch",
    daemonsets: "get list patch watch",
    "daemonsets/status": "get patch update",
    "daemonsets/finalizers": "update",
  };
  expect(columnOf("owner")).toEqual(column);
  expect(columnOf("auto")).toEqual(column);
});

it("DSP-1031 DSP-112 a companion marks and deletes pods, and writes nothing else unless it may have OpenKruise roll", () => {
  expect(columnOf("companion")).toEqual({
    ...EVERYBODY,
    pods: "delete get list patch watch",
    daemonsets: READ,
    "daemonsets (optional)": "patch",
  });
});

it("DSP-102 without the controller there are no rights", () => {
  expect(columnOf("off")).toEqual({});
});
