/** The readiness gate that the registry sets on pods of TARS servers (RG-005, RG-006). */
import { type DeepReadonly, isNotFound, keyOf, seconds } from "@quartet/core";
import type { Pod } from "../desired/k8s.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { POD } from "../kinds.ts";
import { ACTIVE_GATE, REGISTRY_NAME } from "../labels.ts";
import type { Pass } from "./pass.ts";

/** After so long without the gate something is wrong, ms. */
const SILENCE_MS = 120_000;
/** Pause between two events of one server, ms. */
const REPEAT_MS = 3_600_000;

type Condition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number];

/** Tells of pods whose gate nobody sets, or sets it; the time to look again after, ms. */
export async function tendGates(pass: Pass): Promise<number | undefined> {
  const { model, settings, lookups, pods } = pass;
  if (!model.isTars) return undefined;
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (settings.gateFallback && lookups.server(model.namespace, REGISTRY_NAME) === undefined) {
    for (const pod of alive) await mirror(pass, pod);
    return undefined;
  }
  return reportSilence(pass, alive);
}

const conditionOf = ({ status }: DeepReadonly<Pod>, type: string): DeepReadonly<Condition> | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

function reportSilence(
  { ctx, server, memory, clock }: Pass,
  pods: readonly DeepReadonly<Pod>[],
): number | undefined {
  const waits = pods.flatMap((pod) => {
    const ready = conditionOf(pod, "ContainersReady");
    if (ready?.status !== "True" || conditionOf(pod, ACTIVE_GATE) !== undefined) return [];
    const since = Date.parse(ready.lastTransitionTime ?? "");
    if (Number.isNaN(since)) return [];
    // The node's clock may be ahead of ours, or ours have been set back.
    return [{ pod, left: Math.min(SILENCE_MS, since + SILENCE_MS - clock.now()) }];
  });
  if (waits.length === 0) return undefined;
  const silent = waits.filter(({ left }) => left <= 0);
  const now = clock.monotonic();
  if (silent.length === 0) return Math.min(...waits.map(({ left }) => left));
  const next = memory.gateReported === undefined ? now : memory.gateReported + REPEAT_MS;
  if (next > now) return next - now;
  memory.gateReported = now;
  const names = silent.map(({ pod }) => pod.metadata.name).sort();
  const note = `nobody has set ${ACTIVE_GATE} on ${names[0]}${names.length > 1 ? ` and ${names.length - 1} more` : ""} although its containers are ready; is tarsregistry running?`;
  ctx.events.record(server, { type: "Warning", reason: "GateNotReported", note });
  return REPEAT_MS;
}

/** The gate follows the containers where no registry is there to set it. */
async function mirror({ ctx, clock }: Pass, pod: DeepReadonly<Pod>): Promise<void> {
  const on = conditionOf(pod, "ContainersReady")?.status === "True";
  const gate = conditionOf(pod, ACTIVE_GATE);
  if (on ? gate?.status === "True" : gate?.status !== "True") return;
  const condition = {
    type: ACTIVE_GATE,
    status: on ? "True" : "False",
    reason: on ? "Active/Active/" : "Active/Activating/",
    lastTransitionTime: seconds(clock.now()),
  };
  const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
  await ctx.client
    .patch(
      POD,
      keyOf(pod),
      { type: "strategic", body },
      {
        ...{ signal: ctx.signal, subresource: "status", fieldManager: FIELD_MANAGER },
      },
    )
    .catch((error) => {
      if (!isNotFound(error)) throw error;
    });
}
