/** Service, StatefulSet and DaemonSet of a server, with all fields that this package manages (tars.md 6). */
import { controllerReference, type DeepReadonly, type ObjectMeta } from "@quartet/core";
import type { TServer } from "../api.gen.ts";
import { T_SERVER } from "../kinds.ts";
import { serverLabels } from "../labels.ts";
import type { DaemonSet, JsonMap, Service, StatefulSet } from "./k8s.ts";
import { modelOf, type ServerModel } from "./model.ts";
import { servicePorts } from "./ports.ts";
import { effectiveReplicas } from "./replicas.ts";
import { podTemplate, type TemplateInput } from "./template.ts";
import { claimTemplatesOf } from "./volumes.ts";

/** What stands at the head of every child. */
export function childMetadata({ name, namespace, uid, app, server }: ServerModel): ObjectMeta {
  return {
    name,
    namespace,
    labels: serverLabels(app, server),
    ownerReferences: [controllerReference(T_SERVER, { metadata: { name, namespace, uid } })],
  };
}

/** The Service of a server that runs as a StatefulSet. */
export function desiredService(model: ServerModel): Service {
  const ports = servicePorts(model);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: childMetadata(model),
    spec: {
      type: "ClusterIP",
      clusterIP: "None",
      sessionAffinity: "None",
      selector: serverLabels(model.app, model.server),
      ...(ports.length > 0 && { ports }),
    },
  };
}

/** The StatefulSet. */
export function desiredStatefulSet(tserver: DeepReadonly<TServer>, input: TemplateInput): StatefulSet {
  const model = modelOf(tserver);
  const claims = claimTemplatesOf(model, input.hostBindClaim);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: childMetadata(model),
    spec: {
      replicas: effectiveReplicas(model, tserver.metadata.annotations),
      serviceName: model.name,
      selector: { matchLabels: serverLabels(model.app, model.server) },
      podManagementPolicy: model.k8s.podManagementPolicy ?? "Parallel",
      updateStrategy: statefulStrategy(model),
      template: podTemplate(model, input, "StatefulSet"),
      ...(claims.length > 0 && { volumeClaimTemplates: claims }),
    },
  };
}

/** The DaemonSet. */
export function desiredDaemonSet(tserver: DeepReadonly<TServer>, input: TemplateInput): DaemonSet {
  const model = modelOf(tserver);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: childMetadata(model),
    spec: {
      selector: { matchLabels: serverLabels(model.app, model.server) },
      updateStrategy: daemonStrategy(model),
      template: podTemplate(model, input, "DaemonSet"),
    },
  };
}

/** The API takes a partition with RollingUpdate alone (MAP-023). */
function statefulStrategy({ k8s }: ServerModel): JsonMap {
  const { type = "RollingUpdate", rollingUpdate } = k8s.updateStrategy ?? {};
  if (type === "OnDelete") return { type };
  return { type, rollingUpdate: { partition: rollingUpdate?.partition ?? 0 } };
}

/** A DaemonSet replaces at least one pod at a time (MAP-083). */
function daemonStrategy({ k8s }: ServerModel): JsonMap {
  const { type = "RollingUpdate", rollingUpdate } = k8s.updateStrategy ?? {};
  if (type === "OnDelete") return { type };
  return { type, rollingUpdate: { maxUnavailable: Math.max(rollingUpdate?.partition ?? 0, 1) } };
}
