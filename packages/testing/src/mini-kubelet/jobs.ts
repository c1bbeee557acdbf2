/** Jobs: pods until enough of them succeeded, or too many failed. */
import { type Cluster, createPod, deletePod, writeStatus } from "./cluster.ts";
import {
  type Condition,
  conditionOf,
  isEnding,
  isFinished,
  isReady,
  type Job,
  ownerReference,
  timestamp,
} from "./objects.ts";
import { createWorker, type Worker } from "./worker.ts";
import { podOf, podsOf, randomSuffix, watchOwner } from "./workload.ts";

const BACKOFF_LIMIT = 6;

function finalConditions(type: "Complete" | "Failed", now: number): Condition[] {
  const at = timestamp(now);
  const first = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
  const reason = type === "Complete" ? "CompletionsReached" : "BackoffLimitExceeded";
  const message =
    type === "Complete"
      ? "Reached expected number of succeeded pods"
      : "Job has reached the specified backoff limit";
  return [first, type].map((name) => ({
    type: name,
    status: "True",
    lastProbeTime: at,
    lastTransitionTime: at,
    reason,
    message,
  }));
}

async function sync(cluster: Cluster, job: Job): Promise<void> {
  const { namespace, name } = job.metadata;
  if (conditionOf(job.status, "Complete") !== undefined || conditionOf(job.status, "Failed") !== undefined)
    return;
  if (job.spec.suspend === true) return;
  const now = cluster.now();
  const pods = podsOf(cluster, job);
  const succeeded = pods.filter(({ status }) => status.phase === "Succeeded").length;
  const failed = pods.filter(({ status }) => status.phase === "Failed").length;
  const active = pods.filter((pod) => !isFinished(pod) && !isEnding(pod));
  const completions = job.spec.completions ?? 1;
  const complete = succeeded >= completions;
  const broken = failed > (job.spec.backoffLimit ?? BACKOFF_LIMIT);
  let running = active.length;
  if (complete || broken) for (const pod of active) await deletePod(cluster, pod);
  else {
    const wanted = Math.min(job.spec.parallelism ?? 1, completions - succeeded);
    for (; running < wanted; running += 1) {
      const labels = { "batch.kubernetes.io/job-name": name, "job-name": name };
      const owner = ownerReference(job, "batch/v1", "Job");
      await createPod(
        cluster,
        namespace!,
        podOf(job.spec.template, `${name}-${randomSuffix()}`, labels, owner),
      );
    }
  }
  const done = complete || broken;
  await writeStatus(cluster, cluster.jobs, `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`, job, {
    startTime: job.status?.startTime ?? timestamp(now),
    active: done ? 0 : running,
    ready: active.filter(isReady).length,
    succeeded,
    failed,
    ...(complete ? { completionTime: timestamp(now) } : {}),
    ...(done ? { conditions: finalConditions(complete ? "Complete" : "Failed", now) } : {}),
  });
}

export function startJobs(cluster: Cluster): Worker {
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const job = cluster.jobs.get(namespace, name!);
    if (job !== undefined && !isEnding(job)) await sync(cluster, job);
  });
  // jobs adopt nobody: their selector holds their uid
  cluster.jobs.onChange(({ metadata }) => worker.add(`${metadata.namespace}/${metadata.name}`));
  watchOwner(cluster, cluster.jobs as never, "Job", worker);
  return worker;
}
