/** The Nacos kind, and the kinds that hold configuration. */
import { defineKind, type Kind } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject, SECRET } from "@quartet/core/kinds";
import type { Nacos } from "./api.gen.ts";

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
