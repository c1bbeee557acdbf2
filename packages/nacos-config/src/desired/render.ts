/** What a resource would bring about in an empty namespace, without any cluster: for `quartet render` and for tests. */
import type { KubeObject } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { type Violation, validate } from "../admission/validate.ts";
import { wantedConfig } from "./config-object.ts";
import { mysqlInit } from "./mysql-init.ts";
import { fixedLabels } from "./names.ts";
import type { Notice } from "./notice.ts";
import { servicePlans } from "./services.ts";
import { type NacosResource, settingsOf } from "./settings.ts";
import { type ConfigProblem, isProblem } from "./source.ts";
import { specNotices } from "./spec-notices.ts";
import { newStatefulSet } from "./statefulset.ts";

export interface Rendered {
  /** Objects in the order in which they would be created; none when the resource cannot be carried out. */
  readonly objects: readonly KubeObject[];
  readonly violations: readonly Violation[];
  /** Why the configuration cannot be provided, if so. */
  readonly problem?: ConfigProblem;
  readonly notices: readonly Notice[];
}

/** Renders a resource; `sources` are the ConfigMaps and Secrets that it may refer to, in its own namespace. */
export function renderNacos(resource: NacosResource, sources: readonly ConfigObject[]): Rendered {
  const settings = settingsOf(resource);
  const violations = validate(resource);
  const notices = specNotices(settings);
  if (violations.length > 0) return { objects: [], violations, notices };
  const config = wantedConfig(settings, ({ kind, name }) => {
    const object = sources.find((source) => source.kind === kind && source.metadata.name === name);
    return object === undefined ? { state: "absent" } : { state: "present", object };
  });
  if (isProblem(config)) return { objects: [], violations, notices, problem: config };
  const { object, mounted, ready } = config;
  const init = mysqlInit(settings);
  const services = servicePlans(settings, fixedLabels(settings.name));
  return {
    objects: [
      ...(object === undefined ? [] : [object]),
      newStatefulSet(settings, mounted),
      ...services.map(({ created }) => created),
      ...(init === undefined ? [] : [init.configMap, init.job]),
    ],
    violations,
    notices: [...notices, ...(ready?.notices ?? [])],
  };
}
