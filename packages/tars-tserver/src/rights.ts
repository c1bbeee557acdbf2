/** What the package writes; what it reads follows from its sources. */
import type { RightsRule } from "@quartet/core";
import { GROUP } from "./labels.ts";

const READ = ["get", "list", "watch"];
const ALL = [...READ, "create", "update", "patch", "delete"];

const own = (verbs: readonly string[], ...resources: string[]): RightsRule => ({
  groups: [GROUP],
  resources,
  verbs,
});

export const RIGHTS: readonly RightsRule[] = [
  own([...READ, "create", "patch"], "tservers"),
  own(["get", "patch"], "tservers/status", "tendpoints/status"),
  // Owner references that block the owner's deletion need it where the admission plugin for them is on.
  own(["update"], "tservers/finalizers"),
  own(ALL, "tendpoints", "texitedrecords"),
  own([...READ, "patch", "delete"], "tconfigs"),
  own([...READ, "patch"], "tdeploys", "ttrees", "timages", "taccounts"),
  own(READ, "ttemplates", "tframeworkconfigs"),
  { groups: [""], resources: ["services"], verbs: ALL },
  { groups: ["apps"], resources: ["statefulsets", "daemonsets"], verbs: ALL },
  { groups: [""], resources: ["persistentvolumeclaims"], verbs: [...READ, "patch", "delete"] },
  { groups: [""], resources: ["pods"], verbs: READ },
  { groups: [""], resources: ["nodes"], verbs: [...READ, "patch"], elsewhere: "any" },
];
