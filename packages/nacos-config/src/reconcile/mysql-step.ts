/** Initialises a MySQL database by a Job, once, and reports what became of it. */
import type { DeepReadonly, Ensured } from "@quartet/core";
import { CONFIG_MAP, JOB, type Job, POD } from "@quartet/core/kinds";
import { mysqlInitNameFault } from "../admission/names.ts";
import { configObjectPlan } from "../desired/config-object.ts";
import { metadataOver } from "../desired/family.ts";
import { jobState, lastFailure } from "../desired/job-state.ts";
import { JOB_NAME_LABEL, type MysqlInit, mysqlInit } from "../desired/mysql-init.ts";
import { conditionState } from "../status/conditions.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { failureOf } from "./failure.ts";
import type { Pass } from "./pass.ts";

/** Condition that the step reports on. */
const CONDITION = "DatabaseReady";

/**
 * Ensures ConfigMap and Job. A Job is never changed and never repeated: to run it again, delete it.
 * @param writes false for a pass that must not change anything
 */
export async function mysqlStep(pass: Pass, writes: boolean): Promise<void> {
  const { settings, children, failures } = pass;
  const wanted = mysqlInit(settings);
  if (wanted === undefined) return;
  const { name = "" } = wanted.job.metadata;
  const fault = mysqlInitNameFault(settings.name);
  if (fault !== undefined) {
    const message = `metadata.name: ${fault}`;
    failures.push({ code: EVENT_CODES.badParameter, reason: "NameInvalid", message, condition: CONDITION });
    return;
  }
  let job = children.read(JOB, name);
  if (writes) {
    const made = await ensureBoth(pass, wanted);
    if (made.problem !== undefined) {
      failures.push(failureOf(made.problem, { condition: CONDITION }));
      return;
    }
    job = made.object;
  }
  const ours = job !== undefined && children.claim(job).state === "ours" ? job : undefined;
  report(pass, name, ours);
}

/** The Job as it is then, or why there is none. */
async function ensureBoth(
  { children }: Pass,
  { configMap, job }: MysqlInit,
): Promise<Pick<Ensured<Job>, "object" | "problem">> {
  const script = { kind: CONFIG_MAP, name: configMap.metadata.name ?? "" };
  const { problem } = await children.ensure(script, configObjectPlan(configMap));
  if (problem !== undefined) return { problem };
  return children.ensure(
    { kind: JOB, name: job.metadata.name ?? "" },
    {
      create: () => job,
      update: (live) => ({ ...live, metadata: metadataOver(live.metadata, job.metadata) }),
    },
  );
}

function report(pass: Pass, name: string, job: DeepReadonly<Job> | undefined): void {
  const found = job && jobState(job);
  if (job !== undefined && found?.state === "failed") {
    pass.failures.push(jobFailure(pass, name, job, found.reason));
  } else if (found?.state === "complete") {
    pass.reports.push(conditionState(CONDITION, "True", "Initialized", `Job ${name} has completed`));
  } else {
    const reason = found ? "InitJobRunning" : "InitJobPending";
    const what = found ? "is running" : "does not exist yet";
    pass.reports.push(conditionState(CONDITION, "Unknown", reason, `Job ${name} ${what}`));
  }
}

function jobFailure(pass: Pass, name: string, job: DeepReadonly<Job>, reason: string): StepFailure {
  const labels = { [JOB_NAME_LABEL]: name };
  const pods = pass.ctx.cache.source(POD).list({ namespace: pass.key.namespace, labels });
  const end = lastFailure(job, pods);
  const detail = end && `: container ${end.container} ended with exit code ${end.exitCode} (${end.reason})`;
  const message = `Job ${name} has failed (${reason})${detail ?? ""}; see its pods' logs, then delete it to run it again`;
  return { code: EVENT_CODES.other, reason: "InitJobFailed", message, condition: CONDITION };
}
