/** Events about what was done to the StatefulSet. */
import type { DeepReadonly } from "@quartet/core";
import type { ClaimChange } from "../desired/claims.ts";
import type { StatefulSet } from "../desired/k8s.ts";
import { type Notice, normal, warning } from "../desired/notice.ts";
import type { StatefulSetUpdate } from "../desired/statefulset.ts";
import type { Pass } from "./pass.ts";

/** What was decided about a StatefulSet that exists. */
export interface Made {
  /** It cannot have the volumes that are wanted unless it is made anew. */
  readonly volumes?: ClaimChange;
  readonly update?: StatefulSetUpdate;
  /** The update waits for so many ready pods to become available. */
  readonly awaited?: number;
  readonly before?: DeepReadonly<StatefulSet>;
}

export function statefulSetNotices(
  { settings }: Pass,
  action: "created" | "updated" | "replaced",
  { update, before }: Made,
  configRollout: boolean,
): Notice[] {
  if (action === "created") return [normal("Created", `StatefulSet ${settings.name} created`)];
  if (update === undefined) return [];
  const notices: Notice[] = [];
  if (update.drift) {
    const note = `StatefulSet ${settings.name} was edited by hand at ${update.templateChange}; it is put back`;
    notices.push(warning("StatefulSetDriftRepaired", note));
  }
  if (configRollout) {
    notices.push(normal("ConfigRollout", "the configuration has changed; the pods are replaced one by one"));
  }
  if (update.replicasChanged) {
    const rolls =
      settings.type === "cluster" ? "; the member list changes, so every pod is replaced once" : "";
    const from = before?.spec.replicas ?? 1;
    notices.push(normal("Scaling", `from ${from} to ${settings.replicas} nodes${rolls}`));
  }
  return notices;
}

/** What the server leaves as it is, although something else is asked for: most often a misspelt field. */
export function settledNotices({ settings }: Pass, { update }: Made): Notice[] {
  if (update?.templateChange === undefined) return [];
  const note = `StatefulSet ${settings.name}: the API server takes ${update.templateChange} not as it is asked for; check the name and the form of the field`;
  return [warning("PodFieldIgnored", note)];
}
