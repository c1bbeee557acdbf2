/** The pod template. */

import type { PodTemplate } from "@quartet/core/kinds";
import { nacosContainer } from "./container.ts";
import { mysqlCheckContainers } from "./mysql-client.ts";
import { CONFIG_DIGEST_ANNOTATION, fixedLabels } from "./names.ts";
import type { TemplateRevision } from "./revision.ts";
import { type Settings, wrapperOf } from "./settings.ts";
import { configVolume, dataVolume, type MountedConfig } from "./volumes.ts";
import { mergePodSpec } from "./wrapper/pod-spec.ts";

/** Fields of the spec that are fields of the pod under the same name. */
const POD_FIELDS = ["imagePullSecrets", "affinity", "tolerations", "nodeSelector"] as const;

/** The pod template of a revision. The same input gives the same template. */
export function podTemplate(
  settings: Settings,
  config: MountedConfig,
  revision: TemplateRevision,
): PodTemplate {
  const { spec, name } = settings;
  const wrapper = wrapperOf(spec);
  const mounted = [configVolume(config), dataVolume(spec)].filter((volume) => volume !== undefined);
  const volumes = mounted.map(({ volume }) => volume).filter((volume) => volume !== undefined);
  const initContainers = mysqlCheckContainers(settings, revision);
  const pod = mergePodSpec(
    {
      ...(initContainers.length > 0 ? { initContainers } : {}),
      ...(volumes.length > 0 ? { volumes } : {}),
      containers: [nacosContainer(settings, revision, mounted)],
      ...Object.fromEntries(
        POD_FIELDS.filter((field) => isSet(spec[field])).map((field) => [field, spec[field]]),
      ),
    },
    wrapper,
  );
  const annotations =
    config.mode === "merged" ? { annotations: { [CONFIG_DIGEST_ANNOTATION]: config.digest } } : {};
  return { metadata: { labels: fixedLabels(name), ...annotations }, spec: pod };
}

function isSet(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
