/** Writes the configuration object and tells which configuration the pods are to mount. */
import type { DeepReadonly } from "@quartet/core";
import { type MergedPlan, type ReadyConfig, resolveConfig } from "../desired/config.ts";
import { finalConfigObject, legacyConfigObject, updatedConfigObject } from "../desired/config-object.ts";
import type { ConfigObject, StatefulSet } from "../desired/k8s.ts";
import { normal, warning } from "../desired/notice.ts";
import { claimOf } from "../desired/ownership.ts";
import type { SourceRef } from "../desired/settings.ts";
import type { ConfigProblem, FoundSource } from "../desired/source.ts";
import { type MountedConfig, mountedConfig } from "../desired/volumes.ts";
import { type ConfigKind, configKind } from "../kinds.ts";
import { ensure } from "./ensure.ts";
import { claimFailure, stepFailure } from "./failure.ts";
import { childOptions, type Pass } from "./pass.ts";

export interface ConfigResult {
  /** What the pods are to mount; absent when there is nothing yet that they could. */
  readonly wanted?: MountedConfig;
  /** Why the configuration that is asked for is not in force. */
  readonly problem?: ConfigProblem;
  /** The merged configuration, when there is one. */
  readonly ready?: ReadyConfig;
}

/**
 * Provides the configuration. When it cannot be provided, what the live StatefulSet mounts stays wanted.
 * @param writes false for a pass that must not change anything
 */
export async function configStep(
  pass: Pass,
  live: DeepReadonly<StatefulSet> | undefined,
  found: (ref: SourceRef) => FoundSource,
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
  const config = resolveConfig(plan, pass.settings.spec, found);
  if (config.state === "held") {
    return { ...inForce, problem: { reason: config.reason, message: config.message } };
  }
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
  const result = await write(pass, plan.finalKind, desired, {
    subject,
    conflict: "FinalConfigConflict",
    failed: "FinalConfigWriteFailed",
  });
  if ("reason" in result) return result;
  if (result.drift) {
    pass.notices.push(warning("FinalConfigDriftRepaired", `${subject} was edited by hand and is restored`));
  } else if (result.contentChanged) {
    pass.notices.push(normal("ConfigMerged", `${config.message}; digest ${config.digest} in ${subject}`));
  }
  return undefined;
}

async function writeLegacy(pass: Pass, text: string): Promise<ConfigProblem | undefined> {
  const subject = `ConfigMap ${pass.settings.name}`;
  const result = await write(pass, "ConfigMap", legacyConfigObject(pass.resource, text), {
    subject,
    conflict: "LegacyConfigConflict",
    failed: "LegacyConfigWriteFailed",
  });
  if ("reason" in result) return result;
  if (result.contentChanged && !result.created) {
    const note = `${subject} has changed; running pods keep the old properties until they are restarted`;
    pass.notices.push(warning("RestartRequired", note));
  }
  return undefined;
}

interface Written {
  readonly created: boolean;
  readonly contentChanged: boolean;
  readonly drift: boolean;
}

interface WriteReasons {
  readonly subject: string;
  readonly conflict: string;
  readonly failed: string;
}

async function write(
  pass: Pass,
  kind: ConfigKind,
  desired: ConfigObject,
  { subject, conflict, failed }: WriteReasons,
): Promise<Written | ConfigProblem> {
  const options = childOptions(pass, configKind(kind), pass.informers.configs[kind], desired.metadata.name!);
  try {
    const { result } = await ensure<ConfigObject, Written | ConfigProblem>(options, (live) => {
      if (live === undefined) {
        const written = { created: true, contentChanged: true, drift: false };
        return { action: "create", object: desired, result: written };
      }
      const refused = claimFailure(subject, claimOf(live, pass.resource), conflict);
      if (refused !== undefined) return { action: "none", result: refused };
      const { action, object, contentChanged, drift } = updatedConfigObject(desired, live);
      const written = { created: false, contentChanged, drift };
      if (action === "none") return { action, result: written };
      return { action, object: action === "replace" ? desired : object, result: written };
    });
    return "reason" in result ? { reason: result.reason, message: result.message } : result;
  } catch (error) {
    const { message } = stepFailure(subject, error);
    return { reason: failed, message };
  }
}
