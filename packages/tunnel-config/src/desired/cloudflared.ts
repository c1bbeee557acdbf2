/** The Deployment of cloudflared and the Secrets that it needs (section 5). */
import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject, type OwnerReference } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { strategicMerge } from "@quartet/strategic-merge";
import { ANNOTATIONS, PREFIX } from "../constants.ts";
import { type AnyTunnel, type Cached, CLUSTER_TUNNEL } from "../kinds.ts";
import { DeployPatchError, readPatch } from "./deploy-patch.ts";
import { CA_DIRECTORY } from "./sources/origin.ts";
import { trimOf } from "./trim.ts";

const METRICS_PORT = 2000;
/** User of the image. */
const USER = 1002;
/** Longest value of a label. */
const MAX_LABEL = 63;

export interface TunnelIdentity {
  readonly id: string;
  readonly name: string;
  readonly account: string;
}

export interface DeploymentInputs {
  readonly tunnel: Cached<AnyTunnel>;
  readonly identity: TunnelIdentity;
  readonly namespace: string;
  readonly image: string;
  readonly token: string;
  /** Selector of the Deployment that is there; it cannot be changed. */
  readonly selector: Readonly<Record<string, string>> | undefined;
}

/** Name of the Secret with the token of a tunnel. */
export const tokenSecretName = (name: string): string => `${name}-token`;

/** Reference of a tunnel object to what it makes. */
export function tunnelOwner({ kind, metadata }: Cached<AnyTunnel>): OwnerReference {
  const { name = "", uid = "" } = metadata;
  return {
    apiVersion: apiVersionOf(CLUSTER_TUNNEL),
    kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Labels of what belongs to a tunnel (TUN-235). */
export function tunnelLabels(
  tunnel: Cached<AnyTunnel>,
  { id, name }: TunnelIdentity,
): Record<string, string> {
  return {
    [`${PREFIX}/tunnel`]: labelValue(tunnel.metadata.name ?? ""),
    [`${PREFIX}/app`]: "cloudflared",
    [`${PREFIX}/id`]: labelValue(id),
    [`${PREFIX}/name`]: labelValue(name),
    [`${PREFIX}/domain`]: labelValue(tunnel.spec?.cloudflare?.domain ?? ""),
    [`${PREFIX}/is-cluster-tunnel`]: String(tunnel.kind === "ClusterTunnel"),
  };
}

/** A text as the value of a label: other characters become dashes, at most 63, no dash at either end. */
export function labelValue(text: string): string {
  const plain = text
    .slice(0, 4 * MAX_LABEL)
    .replace(/[^A-Za-z0-9_.-]/g, "-")
    .slice(0, MAX_LABEL);
  return trimOf(plain, (character) => !/[A-Za-z0-9]/.test(character));
}

/** A Secret with one value. */
export function tunnelSecret(
  inputs: Pick<DeploymentInputs, "tunnel" | "identity" | "namespace">,
  name: string,
  key: string,
  value: string,
): ConfigObject {
  const { tunnel, identity, namespace } = inputs;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace,
      labels: tunnelLabels(tunnel, identity),
      ownerReferences: [tunnelOwner(tunnel)],
    },
    type: "Opaque",
    data: { [key]: Buffer.from(value).toString("base64") },
  };
}

/** The Deployment with the patch of the user; throws {@link DeployPatchError}. Routing rules are no part of it. */
export function tunnelDeployment(inputs: DeploymentInputs): KubeObject {
  const patch = readPatch(inputs.tunnel.spec?.deployPatch ?? "");
  const base = plainDeployment(inputs);
  if (patch === undefined) return base;
  let merged: KubeObject;
  try {
    merged = strategicMerge("apps.v1.Deployment", base, patch) as unknown as KubeObject;
  } catch (error) {
    throw new DeployPatchError(`spec.deployPatch: ${(error as Error).message}`);
  }
  // What the object is and whose it is are not for the patch to say.
  const { name, namespace, ownerReferences } = base.metadata as KubeObject["metadata"];
  return {
    ...merged,
    apiVersion: base.apiVersion,
    kind: base.kind,
    metadata: { ...merged.metadata, name, namespace, ownerReferences } as KubeObject["metadata"],
  };
}

function plainDeployment(inputs: DeploymentInputs): KubeObject & { spec: Record<string, unknown> } {
  const { tunnel, identity, namespace, token } = inputs;
  const labels = tunnelLabels(tunnel, identity);
  const own = Object.fromEntries(
    ["tunnel", "app"].map((part) => [`${PREFIX}/${part}`, labels[`${PREFIX}/${part}`] ?? ""]),
  );
  const selector = inputs.selector ?? own;
  const checksum = createHash("sha256").update(token).digest("hex").slice(0, 16);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: tunnel.metadata.name ?? "", namespace, labels, ownerReferences: [tunnelOwner(tunnel)] },
    spec: {
      selector: { matchLabels: selector },
      template: {
        metadata: {
          labels: { ...labels, ...selector },
          annotations: { [ANNOTATIONS.tokenChecksum]: checksum },
        },
        spec: podSpec(inputs),
      },
    },
  };
}

function podSpec({ tunnel, image }: DeploymentInputs): Record<string, unknown> {
  const { spec, metadata } = tunnel;
  const ready = { httpGet: { path: "/ready", port: METRICS_PORT }, periodSeconds: 10 };
  const pool = spec?.originCaPool;
  const expression = (key: string, values: string[]) => ({ key, operator: "In", values });
  const term = {
    matchExpressions: [
      expression("kubernetes.io/arch", ["amd64", "arm64"]),
      expression("kubernetes.io/os", ["linux"]),
    ],
  };
  const mount = pool ? { volumeMounts: [{ name: "certs", mountPath: CA_DIRECTORY, readOnly: true }] } : {};
  const container = {
    name: "cloudflared",
    image,
    args: [
      "tunnel",
      "--no-autoupdate",
      "--protocol",
      spec?.protocol ?? "auto",
      "--metrics",
      `0.0.0.0:${METRICS_PORT}`,
      "run",
    ],
    env: [
      {
        name: "TUNNEL_TOKEN",
        valueFrom: { secretKeyRef: { name: tokenSecretName(metadata.name ?? ""), key: "token" } },
      },
    ],
    ports: [{ name: "metrics", containerPort: METRICS_PORT, protocol: "TCP" }],
    readinessProbe: { ...ready, failureThreshold: 1 },
    livenessProbe: { ...ready, initialDelaySeconds: 10, failureThreshold: 6 },
    securityContext: {
      runAsUser: USER,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    ...mount,
  };
  return {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
    },
    containers: [container],
    ...(pool ? { volumes: [{ name: "certs", secret: { secretName: pool, defaultMode: 420 } }] } : {}),
  };
}
