/** The pod template of both workloads (MAP-030 to 048). */
import {
  ACTIVE_GATE,
  NO_IMAGE,
  NODE_CONTAINER,
  RELEASE_LABEL,
  serverLabels,
  UNRELEASED_LABEL,
} from "../labels.ts";
import { daemonAffinity, statefulAffinity } from "./affinity.ts";
import type { Container, JsonMap, PodTemplate } from "./k8s.ts";
import type { NodeImage, ServerModel } from "./model.ts";
import { containerPorts, type PortStyle } from "./ports.ts";
import { mountsOf, volumesOf, workDirMount } from "./volumes.ts";

/** What a template follows from beside the server. */
export interface TemplateInput {
  /** The framework's image of tarsnode; `undefined` when there is none. */
  readonly nodeImage: NodeImage | undefined;
  readonly portStyle: PortStyle;
  /** Pods that are bound to a node get the claim `delay-bind`, as with the peer (D9). Default false. */
  readonly hostBindClaim?: boolean;
}

/** The template, with all fields that this package manages. The same input gives the same template. */
export function podTemplate(
  model: ServerModel,
  input: TemplateInput,
  kind: "StatefulSet" | "DaemonSet",
): PodTemplate {
  const { name, app, server, k8s, isTars, released } = model;
  const daemon = kind === "DaemonSet";
  const secrets = pullSecrets(model, input);
  const gates = gatesOf(model);
  const labels = { ...serverLabels(app, server), ...(released && { [RELEASE_LABEL]: released.id }) };
  return {
    metadata: { name, labels },
    spec: {
      ...(isTars && { initContainers: [nodeContainer(model, input)] }),
      containers: [mainContainer(model, input, !daemon)],
      volumes: volumesOf(model),
      affinity: daemon ? daemonAffinity(model) : statefulAffinity(model),
      ...(daemon && released === undefined && { nodeSelector: { [UNRELEASED_LABEL]: "true" } }),
      ...(k8s.hostIPC === true && { hostIPC: true }),
      ...(k8s.hostNetwork === true && { hostNetwork: true }),
      ...(k8s.serviceAccount && { serviceAccountName: k8s.serviceAccount }),
      dnsPolicy: k8s.hostNetwork === true ? "ClusterFirstWithHostNet" : "ClusterFirst",
      dnsConfig: { options: [{ name: "ndots", value: "2" }] },
      restartPolicy: "Always",
      enableServiceLinks: false,
      ...(secrets.length > 0 && { imagePullSecrets: secrets.map((secret) => ({ name: secret })) }),
      ...(gates.length > 0 && { readinessGates: gates.map((conditionType) => ({ conditionType })) }),
    },
  };
}

/** The gate of the registry comes first, also where it was stored without the webhook. */
function gatesOf({ gates, spec }: ServerModel): string[] {
  return [...new Set(spec.tars === undefined ? gates : [ACTIVE_GATE, ...gates])];
}

function pullSecrets({ isTars, released }: ServerModel, { nodeImage }: TemplateInput): string[] {
  if (released === undefined) return [];
  // The framework's secret serves an image of tarsnode that has none of its own, as with the peer.
  const node = isTars ? released.nodeSecret || nodeImage?.secret : undefined;
  return [...new Set([released.secret, node].flatMap((secret) => (secret ? [secret] : [])))];
}

const fromField = (name: string, fieldPath: string): JsonMap => ({
  name,
  valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } },
});

function nodeContainer({ app, server, k8s, released }: ServerModel, { nodeImage }: TemplateInput): Container {
  return {
    name: NODE_CONTAINER,
    image: released?.nodeImage || nodeImage?.image || NO_IMAGE,
    imagePullPolicy: "Always",
    env: [
      fromField("Namespace", "metadata.namespace"),
      fromField("PodName", "metadata.name"),
      fromField("PodIP", "status.podIP"),
      { name: "ServerApp", value: app },
      { name: "ServerName", value: server },
      ...(k8s.launcherType === "foreground" ? [{ name: "LauncherType", value: "foreground" }] : []),
    ],
    volumeMounts: [workDirMount()],
  };
}

function mainContainer(model: ServerModel, { portStyle }: TemplateInput, claims: boolean): Container {
  const { name, k8s, released, command, args } = model;
  const ports = containerPorts(model, portStyle);
  return {
    name,
    image: released?.image || NO_IMAGE,
    imagePullPolicy: k8s.imagePullPolicy ?? "Always",
    ...(command.length > 0 && { command: [...command] }),
    ...(args.length > 0 && { args: [...args] }),
    ...(ports.length > 0 && { ports }),
    ...copied(k8s.env, "env"),
    ...copied(k8s.envFrom, "envFrom"),
    resources: structuredClone(k8s.resources ?? {}) as JsonMap,
    volumeMounts: mountsOf(model, { claims }),
  };
}

function copied(list: readonly unknown[] | undefined, member: string): JsonMap {
  return list === undefined || list.length === 0 ? {} : { [member]: structuredClone(list) };
}
