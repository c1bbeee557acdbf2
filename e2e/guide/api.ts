/** Types and kinds of the guide's controller. */
// #region api
import { type Condition, defineKind, type Kind, type KubeObject } from "@quartet/core";

export const GROUP = "guide.quartet.io";

export interface Greeting extends KubeObject {
  spec: { name: string; phraseFrom: string };
  status?: { conditions?: Condition[] };
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export const GREETING: Kind<Greeting> = defineKind<Greeting>({
  group: GROUP,
  version: "v1",
  kind: "Greeting",
  plural: "greetings",
  namespaced: true,
});

export const CONFIG_MAP: Kind<ConfigMap> = defineKind<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
// #endregion
