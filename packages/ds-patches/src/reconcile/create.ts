/** Creates the pods of nodes that have none (DSP-725, 734, 735). */
import { NODE, POD, type Pod } from "@quartet/core/kinds";
import { podFor } from "../desired/pod.ts";
import type { DaemonSet } from "../kinds.ts";
import { inBatches } from "./batches.ts";
import { expectationKey, takeMiss } from "./memory.ts";
import type { ObservedNode } from "./observe.ts";
import { type Done, type PodWork, tell, toldOf } from "./work.ts";

/** A pod for each of the nodes that are still there (DSP-510), in batches that grow while they succeed. */
export async function createPods(nodes: readonly ObservedNode[], work: PodWork): Promise<Done> {
  const { daemonSet, memory, children, metrics, ctx, history } = work;
  const { expectations, compiled } = memory;
  const outcome = await inBatches(
    children,
    {
      id: "create pod",
      subjectOf: ({ name }) => `Pod of node ${name}`,
      wanted: [history.revision, compiled.patchSet.listHash],
      items: nodes,
      nameOf: ({ name }) => name,
      async write(node) {
        if (ctx.cache.source(NODE).get({ namespace: "", name: node.name }) === undefined) {
          metrics.failed(daemonSet, "node_not_found");
          return;
        }
        const pod = podOn(node, work);
        if (ctx.dryRun !== true) expectations.expectCreations(expectationKey(daemonSet), 1);
        try {
          const { name } = (await ctx.client.create(POD, pod, { signal: ctx.signal })).metadata;
          metrics.applied(daemonSet, node.patchIndexes.length);
          tell(work, { type: "Normal", reason: "SuccessfulCreate", note: `Created pod: ${name}` });
        } catch (error) {
          if (ctx.dryRun !== true) expectations.created(expectationKey(daemonSet));
          throw error;
        }
      },
    },
    memory.refusedItems,
  );
  return toldOf(outcome, { reason: "FailedCreate", text: "Error creating" }, work);
}

function podOn({ name, match }: ObservedNode, { daemonSet, memory, history, metrics, clock }: PodWork): Pod {
  const { compiled } = memory;
  const start = clock.monotonic();
  const found = match ?? compiled.matchOf({});
  const { template } = compiled.templateOf(found.mask);
  const pod = podFor({
    daemonSet: daemonSet as DaemonSet,
    node: name,
    template,
    match: found,
    listHash: compiled.patchSet.listHash,
    revision: history.revision,
  });
  if (found.mask !== 0) {
    const missMs = takeMiss(memory, found.mask);
    metrics.duration(clock.monotonic() - start + (missMs ?? 0), missMs === undefined);
  }
  return pod;
}
