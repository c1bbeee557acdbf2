/** References from one namespace to another, which the other one grants (TUN-528, TUN-926). */
import type { ReferenceGrant } from "../../gateway-kinds.ts";
import type { Cached } from "../../kinds.ts";

/** Whoever refers to something. */
export interface Referrer {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}

/** What is referred to. */
export interface Referred extends Referrer {
  readonly name: string;
}

/** Whether a grant of the namespace of what is referred to allows it. */
export function isGranted(
  grants: readonly Cached<ReferenceGrant>[],
  referrer: Referrer,
  { group, kind, namespace, name }: Referred,
): boolean {
  return grants.some(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      spec.from.some(
        (from) =>
          from.group === referrer.group &&
          from.kind === referrer.kind &&
          from.namespace === referrer.namespace,
      ) &&
      spec.to.some(
        (to) => to.group === group && to.kind === kind && (to.name === undefined || to.name === name),
      ),
  );
}
