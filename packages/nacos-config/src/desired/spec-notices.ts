/** What is worth saying about a spec, once for each generation of it. */

import type { VolumeMount } from "@quartet/core/kinds";
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

type Notices = Iterable<Notice>;

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

function* replicaNotices({ type, replicas }: Settings): Notices {
  if (type !== "cluster" || replicas === 0 || replicas % 2 === 1) return;
  const note = `${replicas} nodes survive the loss of no more nodes than ${replicas - 1}; prefer an odd number`;
  yield warning("EvenReplicas", note);
}

function* configNotices({ config, spec, version }: Settings): Notices {
  if (config.mode === "merged" && spec.config) {
    const note = "spec.config is ignored beside userConfigRef and internalConfigRef";
    yield normal("LegacyConfigIgnored", note);
  }
  if (config.mode === "legacy" && isAtLeast(version, ...LEGACY_ENDS)) {
    const note = `images from ${LEGACY_ENDS.join(".")} on do not read spec.config; use userConfigRef`;
    yield warning("LegacyConfigIneffective", note);
  }
}

function* wrapperNotices({ config, spec, name }: Settings): Notices {
  if (NESTED_SPEC in wrapperOf(spec)) {
    const note = "k8sWrapper.PodSpec.spec is no field of a pod and is ignored; move its content up";
    yield warning("WrapperNestedSpecIgnored", note);
  }
  const mounts = itemsOf(nacosOverride(name, spec).volumeMounts) as VolumeMount[];
  if (config.mode === "merged" && mounts.some((mount) => mountPoint(mount) === FINAL_CONFIG_PATH)) {
    const note = `k8sWrapper mounts ${FINAL_CONFIG_PATH} itself; the generated configuration is not mounted`;
    yield normal("FinalConfigMountOverridden", note);
  }
}

function* volumeNotices({ spec }: Settings): Notices {
  const [first, ...ignored] = dataVolumeKinds(spec);
  const unknown = first === "volumeClaimTemplate" ? unknownClaimFields(spec) : [];
  if (unknown.length > 0) {
    const note = `spec.volume.volumeClaimTemplate: ${listNames(unknown)} is no field of a claim and is dropped; what is asked of the storage stands under spec`;
    yield warning("VolumeFieldIgnored", note);
  }
  if (ignored.length > 0) {
    yield warning("VolumeIgnored", `spec.volume: ${first} counts, ${ignored.join(", ")} is ignored`);
  }
  if (databaseKind(spec) === "embedded" && (first === undefined || first === "emptyDir")) {
    const note = "the embedded database lies on no persistent volume: its data is lost with the pods";
    yield warning("EphemeralData", note);
  }
  if (spec.volume?.keepAfterDeletion === false && spec.volume.deletePolicy !== "Delete") {
    const note = "keepAfterDeletion has no effect: claims are kept unless deletePolicy is Delete";
    yield normal("PvcRetained", note);
  }
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

function* authNotices(settings: Settings): Notices {
  const { spec, name } = settings;
  const { credentialsSecretRef, mysqlPassword } = spec.database ?? {};
  if (databaseKind(spec) === "mysql" && credentialsSecretRef?.name && mysqlPassword) {
    const note = "credentialsSecretRef wins over mysqlPassword; remove the latter";
    yield warning("MysqlPasswordIgnored", note);
  }
  if (spec.adminCredentialsSecretRef?.name && !hasAdmin(spec)) {
    const note = "adminCredentialsSecretRef has no effect without postgres.host";
    yield warning("AdminCredentialsIgnored", note);
  }
  if (!hasConsolePort(settings)) return;
  // Names alone count; a refused number of nodes must not be listed.
  const template = podTemplate({ ...settings, replicas: 0 }, { mode: "none" }, LATEST_REVISION);
  const container = template.spec.containers.find((item) => item.name === name);
  const set = new Set(container?.env?.map((variable) => variable.name));
  const missing = NACOS3_AUTH_ENV.filter((variable) => !set.has(variable));
  if (missing.length > 0) {
    const note = `the image of Nacos 3 does not start without ${missing.join(", ")}`;
    yield warning("Nacos3AuthEnvMissing", note);
  }
}
