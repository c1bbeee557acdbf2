/** TConfig: defaulting and validation (M-030 to 034, V-040 to 051). */
import { crc32 } from "node:zlib";
import type { DeepReadonly } from "@quartet/core";
import type { TConfig } from "../api.gen.ts";
import {
  ACTIVATED_AT_ANNOTATION,
  ACTIVATED_LABEL,
  APP_LABEL,
  CONFIG_NAME_LABEL,
  DEACTIVATE_LABEL,
  DEACTIVATING_LABEL,
  DELETING_LABEL,
  POD_SEQ_LABEL,
  SERVER_LABEL,
  VERSION_LABEL,
} from "../labels.ts";
import { type Denial, first, immutable } from "./denial.ts";
import { setLabels } from "./labels.ts";

/** Sequence of a configuration that holds for all pods. */
export const MASTER = "m";
const RADIX_HEX = 16;

/** A TConfig without its content, as the cache keeps it. */
export type ConfigFacts = Omit<DeepReadonly<TConfig>, "configContent">;

/** `YYYYMMDDHHmmss-<crc32 of the name>` (D20). */
export function configVersion(name: string, now: number): string {
  const digits = new Date(now).toISOString().replace(/\D/g, "").slice(0, "YYYYMMDDHHmmss".length);
  return `${digits}-${crc32(name).toString(RADIX_HEX)}`;
}

/** The configuration with its labels, and at creation with version and time. `now` in ms since the epoch. */
export function mutateConfig(object: TConfig, old: DeepReadonly<TConfig> | undefined, now: number): TConfig {
  // Null where somebody clears the field.
  if (!object.podSeq) object.podSeq = MASTER;
  if (old === undefined) {
    object.version = configVersion(object.metadata.name ?? "", now);
    object.updateTime = `${new Date(now).toISOString().slice(0, "YYYY-MM-DDTHH:mm:ss".length)}Z`;
  }
  const activated = object.activated !== false;
  if (activated && old?.activated !== true) {
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [ACTIVATED_AT_ANNOTATION]: new Date(now).toISOString(),
    };
  }
  setLabels(object, {
    [APP_LABEL]: object.app,
    [SERVER_LABEL]: object.server ?? "",
    [CONFIG_NAME_LABEL]: object.configName,
    [POD_SEQ_LABEL]: object.podSeq,
    [ACTIVATED_LABEL]: String(activated),
    [VERSION_LABEL]: object.version ?? "",
  });
  return object;
}

/** One item of configuration, of which there are versions; with another sequence it is another item. */
export function itemKey({ app, server = "", configName, podSeq = MASTER }: ConfigFacts): string {
  return [app, server, configName, podSeq].join("/");
}

/** All items that one master and its slaves are. */
export function familyKey({ app, server = "", configName }: ConfigFacts): string {
  return [app, server, configName].join("/");
}

/** Marked to be deactivated. */
export function isDeactivating({ metadata: { labels } }: ConfigFacts): boolean {
  return labels?.[DEACTIVATE_LABEL] !== undefined || labels?.[DEACTIVATING_LABEL] !== undefined;
}

/** Marked to be deleted. */
export function isDeleting({ metadata: { labels } }: ConfigFacts): boolean {
  return labels?.[DELETING_LABEL] !== undefined;
}

/** Active, and to stay so. */
export function isInForce(config: ConfigFacts): boolean {
  return config.activated === true && !isDeactivating(config) && !isDeleting(config);
}

/** Why a new configuration is refused; `family` are the configurations that are there. */
export function validateNewConfig(config: DeepReadonly<TConfig>, family: readonly ConfigFacts[]): Denial {
  const marks = [DEACTIVATE_LABEL, DEACTIVATING_LABEL, DELETING_LABEL];
  const mark = marks.find((label) => config.metadata.labels?.[label] !== undefined);
  if (mark !== undefined) return `can not set label [${mark}] when create`;
  const { podSeq = MASTER } = config;
  if (podSeq === MASTER) return undefined;
  if (!config.server) return "app level tconfig does not support master/slave";
  const master = family.some((one) => (one.podSeq ?? MASTER) === MASTER && isInForce(one));
  return master ? undefined : "no activated master tconfig found";
}

const FIXED = [
  "app",
  "server",
  "podSeq",
  "configName",
  "configContent",
  "version",
  "updateTime",
  "updatePerson",
  "updateReason",
] as const;

/** Why a change by somebody else than the controller is refused. */
export function validateConfigUpdate(now: DeepReadonly<TConfig>, old: DeepReadonly<TConfig>): Denial {
  return first(
    () => (isDeleting(old) ? "can not update deleting tconfig" : undefined),
    () => {
      const changed = FIXED.find((field) => (now[field] ?? "") !== (old[field] ?? ""));
      if (changed === undefined) return undefined;
      return immutable(changed.startsWith("update") ? "TConfig" : "tconfig", `/${changed}`);
    },
    () =>
      old.activated === true && now.activated === false
        ? "only use authorized account can update /activated from true to false"
        : undefined,
  );
}

/** A master that its slaves need. */
export function isMasterInForce(config: ConfigFacts): boolean {
  return (config.podSeq ?? MASTER) === MASTER && isInForce(config);
}

/** Why a master that has slaves is not deleted. */
export function slavesDenial({ metadata: { namespace, name } }: ConfigFacts): string {
  return `cannot delete tconfig ${namespace}/${name} because it is reference by anther tconfig`;
}

/** The configurations that a deletion takes along, or why it is refused. */
export function validateConfigDelete(
  config: ConfigFacts,
  family: readonly ConfigFacts[],
  guard: { readonly ms: number; readonly now: number },
): { denied: string } | { doomed: readonly ConfigFacts[] } {
  if (!isInForce(config)) return { doomed: [] };
  const age = guard.now - Date.parse(config.metadata.creationTimestamp ?? "");
  if (age < guard.ms) return { denied: `tconfig during deletion guard time(${guard.ms / 1000}s)` };
  const { podSeq = MASTER } = config;
  const others = family.filter((one) => one.metadata.name !== config.metadata.name);
  if (podSeq === MASTER && others.some((one) => (one.podSeq ?? MASTER) !== MASTER)) {
    return { denied: slavesDenial(config) };
  }
  return { doomed: others.filter((one) => (one.podSeq ?? MASTER) === podSeq && !isDeleting(one)) };
}
