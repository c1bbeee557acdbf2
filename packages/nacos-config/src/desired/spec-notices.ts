/** What is worth saying about a spec, once for each generation of it. */

import type { EnvVar } from "@quartet/core/kinds";
import { itemsOf, mapOf } from "@quartet/pod-template";
import { dropUnknownFields, StrategicMergeError } from "@quartet/strategic-merge";
import { hasAdmin } from "./admin.ts";
import { databaseKind } from "./database.ts";
import { isAtLeast } from "./image.ts";
import { FINAL_CONFIG_PATH } from "./names.ts";
import { listNames, type Notice, normal, warning } from "./notice.ts";
import { hasConsolePort } from "./ports.ts";
import { LATEST_REVISION } from "./revision.ts";
import { nacosOverride, type Settings, wrapperOf } from "./settings.ts";
import { podTemplate } from "./template.ts";
import { dataVolumeKinds } from "./volumes.ts";
import { mountPoint } from "./wrapper/container.ts";
import { NESTED_SPEC } from "./wrapper/pod-spec.ts";

/** First version whose image no longer reads the legacy configuration. */
const LEGACY_ENDS = [2, 1, 1] as const;
/** Without these the image of Nacos 3 refuses to start. */
const NACOS3_AUTH_ENV = ["NACOS_AUTH_TOKEN", "NACOS_AUTH_IDENTITY_KEY", "NACOS_AUTH_IDENTITY_VALUE"];

/** Warnings and hints about the spec. */
export function specNotices(settings: Settings): Notice[] {
  return [
    ...replicaNotices(settings),
    ...configNotices(settings),
    ...wrapperNotices(settings),
    ...volumeNotices(settings),
    ...authNotices(settings),
  ];
}

function replicaNotices({ type, replicas }: Settings): Notice[] {
  if (type !== "cluster" || replicas === 0 || replicas % 2 === 1) return [];
  const note = `${replicas} nodes survive the loss of no more nodes than ${replicas - 1}; prefer an odd number`;
  return [warning("EvenReplicas", note)];
}

function configNotices({ config, spec, version }: Settings): Notice[] {
  if (config.mode === "merged" && spec.config) {
    return [
      normal("LegacyConfigIgnored", "spec.config is ignored beside userConfigRef and internalConfigRef"),
    ];
  }
  if (config.mode !== "legacy" || !isAtLeast(version, ...LEGACY_ENDS)) return [];
  const note = `images from ${LEGACY_ENDS.join(".")} on do not read spec.config; use userConfigRef`;
  return [warning("LegacyConfigIneffective", note)];
}

function wrapperNotices({ config, spec, name }: Settings): Notice[] {
  const wrapper = wrapperOf(spec);
  const notices: Notice[] = [];
  if (NESTED_SPEC in wrapper) {
    const note = "k8sWrapper.PodSpec.spec is no field of a pod and is ignored; move its content up";
    notices.push(warning("WrapperNestedSpecIgnored", note));
  }
  const mounts = itemsOf(nacosOverride(name, spec).volumeMounts) as unknown as { mountPath: string }[];
  if (config.mode === "merged" && mounts.some((mount) => mountPoint(mount) === FINAL_CONFIG_PATH)) {
    const note = `k8sWrapper mounts ${FINAL_CONFIG_PATH} itself; the generated configuration is not mounted`;
    notices.push(normal("FinalConfigMountOverridden", note));
  }
  return notices;
}

function volumeNotices({ spec }: Settings): Notice[] {
  const [first, ...ignored] = dataVolumeKinds(spec);
  const notices: Notice[] = [];
  const unknown = first === "volumeClaimTemplate" ? unknownClaimFields(spec) : [];
  if (unknown.length > 0) {
    const note = `spec.volume.volumeClaimTemplate: ${listNames(unknown)} is no field of a claim and is dropped; what is asked of the storage stands under spec`;
    notices.push(warning("VolumeFieldIgnored", note));
  }
  if (ignored.length > 0) {
    notices.push(warning("VolumeIgnored", `spec.volume: ${first} counts, ${ignored.join(", ")} is ignored`));
  }
  if (databaseKind(spec) === "embedded" && (first === undefined || first === "emptyDir")) {
    const note = "the embedded database lies on no persistent volume: its data is lost with the pods";
    notices.push(warning("EphemeralData", note));
  }
  if (spec.volume?.keepAfterDeletion === false && spec.volume.deletePolicy !== "Delete") {
    const note = "keepAfterDeletion has no effect: claims are kept unless deletePolicy is Delete";
    notices.push(normal("PvcRetained", note));
  }
  return notices;
}

/** Paths of fields that the server drops from the claim template. */
function unknownClaimFields({ volume = {} }: Settings["spec"]): string[] {
  try {
    return dropUnknownFields("PersistentVolumeClaim", mapOf(volume.volumeClaimTemplate)).unknown;
  } catch (error) {
    // A claim template that is nested too deep is refused by the server itself.
    if (error instanceof StrategicMergeError) return [];
    throw error;
  }
}

function authNotices(settings: Settings): Notice[] {
  const { spec, name } = settings;
  const notices: Notice[] = [];
  const { credentialsSecretRef, mysqlPassword } = spec.database ?? {};
  if (databaseKind(spec) === "mysql" && credentialsSecretRef?.name && mysqlPassword) {
    notices.push(
      warning("MysqlPasswordIgnored", "credentialsSecretRef wins over mysqlPassword; remove the latter"),
    );
  }
  if (spec.adminCredentialsSecretRef?.name && !hasAdmin(spec)) {
    const note = "adminCredentialsSecretRef has no effect without postgres.host";
    notices.push(warning("AdminCredentialsIgnored", note));
  }
  if (!hasConsolePort(settings)) return notices;
  // Names alone count; a refused number of nodes must not be listed.
  const template = podTemplate({ ...settings, replicas: 0 }, { mode: "none" }, LATEST_REVISION);
  const container = template.spec.containers.find((item) => item.name === name);
  const set = new Set((container?.env ?? ([] as EnvVar[])).map((variable) => variable.name));
  const missing = NACOS3_AUTH_ENV.filter((variable) => !set.has(variable));
  if (missing.length > 0) {
    const note = `the image of Nacos 3 does not start without ${missing.join(", ")}`;
    notices.push(warning("Nacos3AuthEnvMissing", note));
  }
  return notices;
}
