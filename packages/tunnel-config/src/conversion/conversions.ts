/** Conversions of Tunnel and ClusterTunnel between v1alpha2, which is stored, and v1alpha1 (section 3.2). */
import type { KubeObject } from "@quartet/core";
import { type Conversion, conversion } from "@quartet/core/webhook";
import type { ClusterTunnel, ClusterTunnelV1Alpha1, Tunnel, TunnelV1Alpha1 } from "../api.gen.ts";
import { ANNOTATIONS } from "../constants.ts";
import { CLUSTER_TUNNEL, TUNNEL } from "../kinds.ts";
import { type Extra, readExtra } from "./extra.ts";
import { partsOf, patchWith } from "./pod-parts.ts";

type Old = TunnelV1Alpha1 | ClusterTunnelV1Alpha1;
type New = Tunnel | ClusterTunnel;

/** A patch that says nothing; the default of the schema. */
const NO_PATCH = "{}";

/** An object of v1alpha1 as v1alpha2. */
export function toV1Alpha2(object: Old): New {
  const { [ANNOTATIONS.extra]: carried, ...annotations } = object.metadata.annotations ?? {};
  annotate(object, annotations);
  if (object.spec === undefined) return object as New;
  const { credentialsRef, zoneId, deployPatch = NO_PATCH, ...more } = readExtra(carried);
  const { size, image, nodeSelectors, tolerations, newTunnel, existingTunnel, cloudflare, ...spec } =
    object.spec;
  return {
    ...object,
    spec: {
      ...spec,
      // The types of the peer write both, one of them empty.
      ...(isFilled(newTunnel) && { newTunnel }),
      ...(isFilled(existingTunnel) && { existingTunnel }),
      ...more,
      deployPatch: patchWith(deployPatch, {
        ...(size !== undefined && { size }),
        ...(image !== undefined && { image }),
        ...(nodeSelectors !== undefined && { nodeSelectors }),
        ...(tolerations !== undefined && { tolerations }),
      }),
      cloudflare: {
        ...cloudflare,
        ...(credentialsRef !== undefined && { credentialsRef }),
        ...(zoneId !== undefined && { zoneId }),
      },
    },
  } as New;
}

/** An object of v1alpha2 as v1alpha1. */
export function toV1Alpha1(object: New): Old {
  if (object.spec === undefined) return object as Old;
  const {
    enableWarpRouting,
    originRequest,
    hostPolicy,
    deletionPolicy,
    deployPatch = NO_PATCH,
    ...spec
  } = object.spec;
  const { credentialsRef, zoneId, ...cloudflare } = spec.cloudflare ?? {};
  const parts = partsOf(deployPatch);
  const extra: Extra = {
    ...(enableWarpRouting === true && { enableWarpRouting }),
    ...(originRequest !== undefined && { originRequest }),
    ...(hostPolicy !== undefined && { hostPolicy }),
    ...(deletionPolicy === "Orphan" && { deletionPolicy }),
    ...(patchWith(NO_PATCH, parts) !== deployPatch && { deployPatch }),
    ...(credentialsRef !== undefined && { credentialsRef }),
    ...(zoneId !== undefined && { zoneId }),
  };
  const carried = Object.keys(extra).length > 0;
  annotate(object, {
    ...object.metadata.annotations,
    ...(carried && { [ANNOTATIONS.extra]: JSON.stringify(extra) }),
  });
  return { ...object, spec: { ...spec, ...parts, cloudflare } } as Old;
}

/** Sets annotations; none at all when there are none. */
function annotate(object: KubeObject, annotations: Record<string, string>): void {
  if (Object.keys(annotations).length === 0) delete object.metadata.annotations;
  else object.metadata.annotations = annotations;
}

function isFilled(value: object | undefined): boolean {
  return value !== undefined && Object.values(value).some((inner) => inner !== "");
}

/** The conversions that the webhook answers with. */
export const CONVERSIONS: readonly Conversion[] = [
  conversion<Tunnel>(TUNNEL, [
    {
      version: "v1alpha1",
      toHub: (object) => toV1Alpha2(object as TunnelV1Alpha1) as Tunnel,
      fromHub: (object) => toV1Alpha1(object) as TunnelV1Alpha1,
    },
  ]),
  conversion<ClusterTunnel>(CLUSTER_TUNNEL, [
    {
      version: "v1alpha1",
      toHub: (object) => toV1Alpha2(object as ClusterTunnelV1Alpha1) as ClusterTunnel,
      fromHub: (object) => toV1Alpha1(object) as ClusterTunnelV1Alpha1,
    },
  ]),
];
