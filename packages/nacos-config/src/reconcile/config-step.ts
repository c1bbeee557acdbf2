/** Writes the configuration object and tells which configuration the pods are to mount. */
import type { DeepReadonly, Problem } from "@quartet/core";
import { CONFIG_MAP, type StatefulSet } from "@quartet/core/kinds";
import { type ConfigResult, type MergedPlan, type ReadyConfig, resolveConfig } from "../desired/config.ts";
import {
  configObjectPlan,
  finalConfigObject,
  legacyConfigObject,
  updatedConfigObject,
} from "../desired/config-object.ts";
import { normal, warning } from "../desired/notice.ts";
import { type ConfigProblem, isProblem } from "../desired/source.ts";
import { mountedConfig } from "../desired/volumes.ts";
import { configKind } from "../kinds.ts";
import type { Pass } from "./pass.ts";
import { findSource } from "./references.ts";

/**
 * Provides the configuration. When it cannot be provided, what the live StatefulSet mounts stays wanted.
 * @param writes false for a pass that must not change anything
 */
export async function configStep(
  pass: Pass,
  live: DeepReadonly<StatefulSet> | undefined,
  writes: boolean,
): Promise<ConfigResult> {
  const plan = pass.settings.config;
  const inForce = live === undefined ? {} : { wanted: mountedConfig(live) };
  if (plan.mode === "none") return { wanted: { mode: "none" } };
  if (plan.mode === "legacy") {
    const problem = writes ? await writeLegacy(pass, plan.text) : undefined;
    if (problem !== undefined) return { ...inForce, problem };
    return { wanted: { mode: "legacy", name: pass.settings.name } };
  }
  const config = resolveConfig(plan, pass.settings.spec, (ref) => findSource(pass, ref));
  if (isProblem(config)) return { ...inForce, problem: config };
  const problem = writes ? await writeFinal(pass, plan, config) : undefined;
  if (problem !== undefined) return { ...inForce, problem };
  const { finalName: name, finalKind: kind } = plan;
  return { wanted: { mode: "merged", name, kind, digest: config.digest }, ready: config };
}

async function writeFinal(
  pass: Pass,
  plan: MergedPlan,
  config: ReadyConfig,
): Promise<ConfigProblem | undefined> {
  const subject = `${plan.finalKind} ${plan.finalName}`;
  const desired = finalConfigObject(pass.resource, plan, config);
  const { before, action, problem } = await pass.children.ensure(
    { kind: configKind(plan.finalKind), name: plan.finalName },
    configObjectPlan(desired),
  );
  if (problem !== undefined) return worded(problem, "FinalConfigConflict", "FinalConfigWriteFailed");
  if (action === "none") return undefined;
  const { drift, contentChanged } = before
    ? updatedConfigObject(desired, before)
    : { drift: false, contentChanged: true };
  if (drift) {
    pass.notices.push(warning("FinalConfigDriftRepaired", `${subject} was edited by hand and is restored`));
  } else if (contentChanged) {
    pass.notices.push(normal("ConfigMerged", `${config.message}; digest ${config.digest} in ${subject}`));
  }
  return undefined;
}

async function writeLegacy(pass: Pass, text: string): Promise<ConfigProblem | undefined> {
  const { name } = pass.settings;
  const desired = legacyConfigObject(pass.resource, text);
  const child = { kind: CONFIG_MAP, name };
  const { before, action, problem } = await pass.children.ensure(child, configObjectPlan(desired));
  if (problem !== undefined) return worded(problem, "LegacyConfigConflict", "LegacyConfigWriteFailed");
  if (action !== "none" && before !== undefined && updatedConfigObject(desired, before).contentChanged) {
    const note = `ConfigMap ${name} has changed; running pods keep the old properties until they are restarted`;
    pass.notices.push(warning("RestartRequired", note));
  }
  return undefined;
}

function worded({ cause, reason, message }: Problem, foreign: string, failed: string): ConfigProblem {
  return { reason: cause === "leaving" ? reason : cause === "foreign" ? foreign : failed, message };
}
