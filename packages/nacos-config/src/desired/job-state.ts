/** What became of a Job. */
import { controllerOf, type DeepReadonly } from "@quartet/core";
import type { ContainerStatus, Job, Pod } from "@quartet/core/kinds";

export type JobState =
  | { readonly state: "running" }
  | { readonly state: "complete" }
  /** `reason` is the Job controller's. */
  | { readonly state: "failed"; readonly reason: string };

/** State of a Job by its conditions. */
export function jobState({ status }: DeepReadonly<Job>): JobState {
  const holds = (type: string) =>
    status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
  if (holds("Complete") !== undefined) return { state: "complete" };
  const failed = holds("Failed");
  return failed === undefined ? { state: "running" } : { state: "failed", reason: failed.reason ?? "Failed" };
}

/** How the container that failed last among a Job's pods ended; `undefined` when no pod tells. */
export function lastFailure(
  job: DeepReadonly<Job>,
  pods: readonly DeepReadonly<Pod>[],
): { container: string; exitCode: number; reason: string } | undefined {
  const ends = pods
    .filter((pod) => controllerOf(pod)?.uid === job.metadata.uid)
    .flatMap((pod) => containersOf(pod).flatMap(failureOf))
    .sort((a, b) => a.finishedAt.localeCompare(b.finishedAt) || a.container.localeCompare(b.container));
  const last = ends.at(-1);
  if (last === undefined) return undefined;
  const { container, exitCode, reason } = last;
  return { container, exitCode, reason };
}

function containersOf({ status }: DeepReadonly<Pod>): readonly DeepReadonly<ContainerStatus>[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function failureOf({ name, state }: DeepReadonly<ContainerStatus>): {
  container: string;
  exitCode: number;
  reason: string;
  finishedAt: string;
}[] {
  const { exitCode = 0, reason = "Error", finishedAt = "" } = state?.terminated ?? {};
  return exitCode === 0 ? [] : [{ container: name, exitCode, reason, finishedAt }];
}
