/** A VirtualNetwork as the API takes it (TUN-930). */
import type { VirtualNetwork } from "../api.gen.ts";
import type { Cached } from "../kinds.ts";

/** A virtual network of an account. */
export interface RemoteNetwork {
  readonly id: string;
  readonly name: string;
  readonly comment?: string | null;
  readonly is_default_network?: boolean;
}

export type NetworkFields = Pick<Required<RemoteNetwork>, "name" | "is_default_network">;

/** Name in the account. */
export function networkName({ spec, metadata }: Cached<VirtualNetwork>): string {
  return spec?.name || (metadata.name ?? "");
}

/**
 * The wanted network. That it is not the default is not wanted of one that is: an account always has one, and another
 * becomes it by asking.
 */
export function wantedNetwork(object: Cached<VirtualNetwork>): NetworkFields {
  return { name: networkName(object), is_default_network: object.spec?.isDefaultNetwork === true };
}
