/** Initialises a MySQL database by a Job, once, and reports what became of it. */
import type { DeepReadonly } from "@quartet/core";
import { sameJson } from "@quartet/core";
import { mysqlInitNameFault } from "../admission/names.ts";
import { updatedConfigObject } from "../desired/config-object.ts";
import { jobState, lastFailure } from "../desired/job-state.ts";
import type { ConfigObject, Job } from "../desired/k8s.ts";
import { JOB_NAME_LABEL, type MysqlInit, mysqlInit } from "../desired/mysql-init.ts";
import { claimOf, mergedMetadata } from "../desired/ownership.ts";
import { CONFIG_MAP, JOB } from "../kinds.ts";
import type { ConditionState } from "../status/conditions.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";
import { type Decision, ensure } from "./ensure.ts";
import { claimFailure, stepFailure } from "./failure.ts";
import { childKey, childOptions, type Pass } from "./pass.ts";

/** Condition that the step reports on. */
const CONDITION = "DatabaseReady";

/**
 * Ensures ConfigMap and Job. A Job is never changed and never repeated: to run it again, delete it.
 * @param writes false for a pass that must not change anything
 */
export async function mysqlStep(pass: Pass, writes: boolean): Promise<void> {
  const { resource, settings, informers } = pass;
  const wanted = mysqlInit(resource, settings);
  if (wanted === undefined) return;
  const { name = "" } = wanted.job.metadata;
  const fault = mysqlInitNameFault(settings.name);
  if (fault !== undefined) {
    const message = `metadata.name: ${fault}`;
    pass.failures.push({
      code: EVENT_CODES.badParameter,
      reason: "NameInvalid",
      message,
      condition: CONDITION,
    });
    return;
  }
  let job = informers.jobs.get(childKey(pass, name));
  if (writes) {
    const made = (await ensureScript(pass, wanted)) ?? (await ensureJob(pass, wanted));
    if (made !== undefined && "reason" in made) {
      pass.failures.push({ ...made, condition: CONDITION });
      return;
    }
    job = made;
  }
  const ours = job !== undefined && claimOf(job, resource).state === "ours" ? job : undefined;
  report(pass, name, ours);
}

async function ensureScript(pass: Pass, { configMap }: MysqlInit): Promise<StepFailure | undefined> {
  const { name = "" } = configMap.metadata;
  const subject = `ConfigMap ${name}`;
  try {
    const options = childOptions(pass, CONFIG_MAP, pass.informers.configs.ConfigMap, name);
    const { result } = await ensure<ConfigObject, StepFailure | undefined>(options, (live) => {
      if (live === undefined) return { action: "create", object: configMap, result: undefined };
      const refused = claimFailure(subject, claimOf(live, pass.resource));
      if (refused !== undefined) return { action: "none", result: refused };
      const { action, object } = updatedConfigObject(configMap, live);
      if (action === "none") return { action, result: undefined };
      return { action, object: action === "replace" ? configMap : object, result: undefined };
    });
    return result;
  } catch (error) {
    return stepFailure(subject, error);
  }
}

/** The Job as it is then, or why there is none. */
async function ensureJob(
  pass: Pass,
  { job }: MysqlInit,
): Promise<DeepReadonly<Job> | StepFailure | undefined> {
  const { name = "" } = job.metadata;
  const subject = `Job ${name}`;
  try {
    const options = childOptions(pass, JOB, pass.informers.jobs, name);
    const { object, result } = await ensure<Job, StepFailure | undefined>(options, (live) =>
      decide(pass, subject, job, live),
    );
    return result ?? object;
  } catch (error) {
    return stepFailure(subject, error);
  }
}

function decide(
  { resource }: Pass,
  subject: string,
  desired: Job,
  live: DeepReadonly<Job> | undefined,
): Decision<Job, StepFailure | undefined> {
  if (live === undefined) return { action: "create", object: desired, result: undefined };
  const refused = claimFailure(subject, claimOf(live, resource));
  if (refused !== undefined) return { action: "none", result: refused };
  const metadata = mergedMetadata(live.metadata, desired.metadata);
  if (sameJson(metadata, live.metadata)) return { action: "none", result: undefined };
  return { action: "update", object: { ...(live as Job), metadata }, result: undefined };
}

function report(pass: Pass, name: string, job: DeepReadonly<Job> | undefined): void {
  const found = job === undefined ? undefined : jobState(job);
  if (job !== undefined && found?.state === "failed") {
    pass.failures.push(jobFailure(pass, name, job, found.reason));
    return;
  }
  const [status, reason, message]: [ConditionState["status"], string, string] =
    found === undefined
      ? ["Unknown", "InitJobPending", `Job ${name} does not exist yet`]
      : found.state === "complete"
        ? ["True", "Initialized", `Job ${name} has completed`]
        : ["Unknown", "InitJobRunning", `Job ${name} is running`];
  pass.reports.push({ type: CONDITION, status, reason, message });
}

function jobFailure(pass: Pass, name: string, job: DeepReadonly<Job>, reason: string): StepFailure {
  const labels = { [JOB_NAME_LABEL]: name };
  const end = lastFailure(job, pass.informers.pods.list({ namespace: pass.settings.namespace, labels }));
  const detail = end && `: container ${end.container} ended with exit code ${end.exitCode} (${end.reason})`;
  const message = `Job ${name} has failed (${reason})${detail ?? ""}; see its pods' logs, then delete it to run it again`;
  return { code: EVENT_CODES.other, reason: "InitJobFailed", message, condition: CONDITION };
}
