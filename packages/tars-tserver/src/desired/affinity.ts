/** Which nodes the pods may run on (MAP-060 to 065, MAP-081). */
import type { DeepReadonly } from "@quartet/core";
import { ABILITY_LABEL_PREFIX, NODE_LABEL_PREFIX, serverLabels } from "../labels.ts";
import type { JsonMap } from "./k8s.ts";
import type { ServerModel } from "./model.ts";

/** Weights of preferred nodes: the server's own before those of its application. */
const SERVER_WEIGHT = 60;
const APP_WEIGHT = 30;
const HOSTNAME = "kubernetes.io/hostname";

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

const exists = (key: string): Requirement => ({ key, operator: "Exists" });

/** Label keys of nodes that are able to run an application, and a server. */
export function abilityKeys({ namespace, app, server }: Pick<ServerModel, "namespace" | "app" | "server">): {
  app: string;
  server: string;
} {
  const key = `${ABILITY_LABEL_PREFIX}${namespace}.${app}`;
  return { app: key, server: `${key}-${server}` };
}

/** Affinity of the pods of a StatefulSet. */
export function statefulAffinity(model: ServerModel): JsonMap {
  const { app, server, namespace, k8s } = model;
  const ability = abilityKeys(model);
  const required = { AppRequired: [ability.app], ServerRequired: [ability.server] } as Readonly<
    Record<string, string[]>
  >;
  // The schema's default; it is only absent where the API server did not fill it in.
  const wanted = k8s.abilityAffinity ?? "AppOrServerPreferred";
  const preferred =
    wanted === "AppOrServerPreferred"
      ? [
          { weight: SERVER_WEIGHT, preference: term(exists(ability.server)) },
          { weight: APP_WEIGHT, preference: term(exists(ability.app)) },
        ]
      : undefined;
  return {
    nodeAffinity: {
      ...requiredNodes(model, (required[wanted] ?? []).map(exists)),
      ...(preferred && { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
    },
    ...(k8s.notStacked === true && {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            labelSelector: { matchLabels: serverLabels(app, server) },
            namespaces: [namespace],
            topologyKey: HOSTNAME,
          },
        ],
      },
    }),
  };
}

/** Affinity of the pods of a DaemonSet: nothing but the nodes of the namespace that the user selects. */
export function daemonAffinity(model: ServerModel): JsonMap {
  return { nodeAffinity: requiredNodes(model, []) };
}

function requiredNodes({ namespace, k8s }: ServerModel, more: Requirement[]): JsonMap {
  const own = (k8s.nodeSelector ?? []).map(requirement);
  const expressions = [...own, exists(`${NODE_LABEL_PREFIX}${namespace}`), ...more];
  return {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term(...expressions)] },
  };
}

/** The entry as given; lists that are empty are none. */
function requirement(
  entry: DeepReadonly<{ key?: string; operator?: string; values?: string[] }>,
): Requirement {
  const { key = "", operator = "", values = [] } = entry;
  return { key, operator, ...(values.length > 0 && { values: [...values] }) };
}

const term = (...matchExpressions: Requirement[]): JsonMap => ({ matchExpressions });
