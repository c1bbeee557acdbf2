/** What follows a pass: events, and the time of the next pass. */
import type { Result } from "@quartet/core";
import type { ConfigResult } from "../desired/config.ts";
import type { Notice } from "../desired/notice.ts";
import { pluginNotice } from "../desired/plugin-image.ts";
import { specNotices } from "../desired/spec-notices.ts";
import type { Outcome, StepFailure } from "../status/outcome.ts";
import type { NacosStatus } from "../status/status.ts";
import { transitions } from "../status/transitions.ts";
import { retryDelay } from "./backoff.ts";
import { portNotice } from "./health-step.ts";
import type { ResourceMemory } from "./memory.ts";
import type { Pass } from "./pass.ts";

/** True when nothing can be created any more: further tries would only fail. */
export function isNamespaceGoing(failures: readonly StepFailure[]): boolean {
  return failures.some(({ reason }) => reason === "NamespaceTerminating");
}

/** Ends a pass whose outcome is not known yet: what its steps did is told, the rest when the answer queues the resource. */
export function tellSteps(pass: Pass): Result {
  record(pass, pass.notices);
  return {};
}

/** Each text is told: it names the digest, the pod or the field, which the reason does not. */
function record({ ctx, resource }: Pass, notices: readonly Notice[]): void {
  for (const notice of notices) ctx.events.record(resource, { ...notice, distinct: notice.note });
}

/** Sends the pass's events: those of steps, those of the spec or the content when they are new, and transitions. */
export function tell(pass: Pass, { ready }: ConfigResult, status: NacosStatus): void {
  const { resource, settings, notices, memory } = pass;
  const before = (resource.status ?? {}) as NacosStatus;
  const all = [...notices, ...transitions(before, status)];
  const newSpec = before.observedGeneration !== resource.metadata.generation;
  const newContent = ready !== undefined && before.configDigest !== ready.digest;
  if (newSpec) all.push(...unheard(specNotices(settings), memory));
  if (newSpec || newContent) {
    const plugin = pluginNotice(settings, ready?.effective ?? new Map());
    if (plugin !== undefined) all.push(plugin);
  }
  if (newContent) {
    const port = portNotice(ready);
    all.push(...ready.notices, ...(port ? [port] : []));
  }
  record(pass, all);
}

/** Notes that the last spec did not give rise to as well. */
function unheard(notes: readonly Notice[], memory: ResourceMemory): Notice[] {
  const told = memory.told ?? new Set();
  memory.told = new Set(notes.map(({ note }) => note));
  return notes.filter(({ note }) => !told.has(note));
}

/** When to look again: soon while something is wrong or under way, else after the resync time. */
export function nextPass(run: Pass, outcome: Outcome, resyncMs: number): Result {
  if (isNamespaceGoing(run.failures)) return {};
  const { health, config, workload, violations } = outcome;
  const failure = run.failures[0];
  const what =
    failure?.reason ??
    (health?.state === "failed" ? health.reason : undefined) ??
    config.problem?.reason ??
    violations[0]?.reason ??
    (workload?.rolling || workload?.scaling || outcome.recreating || outcome.awaited
      ? "InProgress"
      : undefined);
  if (what !== undefined) {
    if (failure !== undefined)
      run.ctx.log.warn("step failed", { reason: failure.reason, detail: failure.message });
    const waits = run.failures.flatMap(({ retryAfterMs = [] }) => retryAfterMs);
    return { requeueAfter: Math.min(...waits, retryDelay(run.memory, what, outcome.now)) };
  }
  delete run.memory.failing;
  return { requeueAfter: resyncMs };
}
