/** The kinds that this controller reads and writes. */
import { defineKind, type Kind } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject, SECRET } from "@quartet/core/kinds";
import type { Nacos } from "./api.gen.ts";

export {
  CONFIG_MAP,
  CONTROLLER_REVISION,
  JOB,
  PERSISTENT_VOLUME_CLAIM as CLAIM,
  POD,
  SECRET,
  SERVICE,
  STATEFUL_SET,
} from "@quartet/core/kinds";

export const NACOS: Kind<Nacos> = defineKind<Nacos>({
  group: "nacos.io",
  version: "v1alpha1",
  kind: "Nacos",
  plural: "nacos",
  namespaced: true,
});

/** Kind of a configuration source or of the generated configuration. */
export type ConfigKind = "ConfigMap" | "Secret";

/** The watched kind behind {@link ConfigKind}. */
export function configKind(kind: ConfigKind): Kind<ConfigObject> {
  return kind === "Secret" ? SECRET : CONFIG_MAP;
}
