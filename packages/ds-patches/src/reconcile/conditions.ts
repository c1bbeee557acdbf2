/** Conditions of pods that the controller sets: those of readiness gates (DSP-121, 739, 822, 823). */
import { isConflict, isNotFound, type ObjectKey } from "@quartet/core";
import { POD } from "@quartet/core/kinds";
import { seconds } from "../desired/in-place.ts";
import { inBatches } from "./batches.ts";
import type { Gated } from "./observe.ts";
import { type Done, toldOf, type Work } from "./work.ts";

export interface NewCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** Sets conditions of a pod, and of no other one of its name; the others stay. */
export async function patchConditions(
  { key, uid }: { readonly key: ObjectKey; readonly uid: string },
  conditions: readonly NewCondition[],
  { ctx, clock }: Pick<Work, "ctx" | "clock">,
): Promise<void> {
  const lastTransitionTime = seconds(clock.now());
  const body = {
    metadata: { uid },
    status: {
      conditions: conditions.map((one) => ({ reason: "", message: "", ...one, lastTransitionTime })),
    },
  };
  await ctx.client.patch(
    POD,
    key,
    { type: "strategic", body },
    { subresource: "status", signal: ctx.signal },
  );
}

/** Opens the gates of pods that nothing holds back any more. */
export async function openGates(pods: readonly Gated[], work: Work): Promise<Done> {
  const { daemonSet, memory, children } = work;
  const outcome = await inBatches(
    children,
    {
      id: "open gate",
      subjectOf: ({ name }) => `Pod ${name}`,
      wanted: [],
      items: pods,
      nameOf: ({ name }) => name,
      async write({ name, uid, gates }) {
        const key = { namespace: daemonSet.metadata.namespace ?? "", name };
        const conditions = gates.map((type) => ({ type, status: "True" }) as const);
        try {
          await patchConditions({ key, uid }, conditions, work);
        } catch (error) {
          if (!isNotFound(error) && !isConflict(error)) throw error;
        }
      },
    },
    memory.refusedItems,
  );
  return toldOf(outcome, { reason: "FailedUpdatePodStatus", text: "Error opening a readiness gate" }, work);
}
