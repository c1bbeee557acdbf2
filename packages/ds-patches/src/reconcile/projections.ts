/** What the caches keep of nodes and pods. */

import type { Node, Pod } from "@quartet/core/kinds";
import { IN_PLACE_READY, KRUISE_POD_READY } from "../desired/keys.ts";

/** What every reading of nodes needs of them; heartbeats and images are left out. */
export const NODE_PROJECTION = {
  name: "labels-and-taints",
  transform: ({ apiVersion, kind, metadata, spec }: Node): Node => {
    const { managedFields: _, annotations: __, ...kept } = metadata;
    return { apiVersion, kind, metadata: kept, spec: { taints: spec?.taints ?? [] } } as Node;
  },
};

const CONDITIONS = ["Ready", IN_PLACE_READY, KRUISE_POD_READY];

/** Conditions, place and marks of pods; containers are kept of those alone that may be updated in place, by their images. */
export const POD_PROJECTION = {
  name: "place-and-readiness",
  transform: ({ apiVersion, kind, metadata, spec, status }: Pod): Pod => {
    const { managedFields: _, ...kept } = metadata;
    const conditions = status?.conditions?.filter(({ type }) => CONDITIONS.includes(type));
    const gates = spec?.readinessGates?.filter(({ conditionType }) => CONDITIONS.includes(conditionType));
    const isInPlace = gates?.some(({ conditionType }) => conditionType === IN_PLACE_READY) === true;
    return {
      apiVersion,
      kind,
      metadata: kept,
      spec: {
        ...(spec?.nodeName && { nodeName: spec.nodeName }),
        affinity: spec?.affinity,
        ...(gates !== undefined && gates.length > 0 && { readinessGates: gates }),
        ...(isInPlace && { containers: spec?.containers?.map(({ name, image }) => ({ name, image })) }),
      },
      status: {
        phase: status?.phase,
        conditions,
        ...(isInPlace && { containerStatuses: status?.containerStatuses?.map(imageStatus) }),
      },
    } as Pod;
  },
};

type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

function imageStatus({ name, image, imageID, state }: ContainerStatus) {
  return { name, image, imageID, state: { running: state?.running } };
}
