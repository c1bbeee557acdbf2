/** Whose a remote object is (TUN-806, TUN-904, TUN-911, TUN-941). */
import { ANNOTATIONS } from "../constants.ts";
import { isSameMarker, markerOf, type Owner, ownerText } from "./marker.ts";

/** A remote object, as far as ownership is concerned. */
export interface Claimed {
  readonly id: string;
  /** Nothing for kinds whose remote objects have no room for a marker. */
  readonly comment: string | null | undefined;
}

/** What is known in the cluster about who owns what. */
export interface Claims {
  readonly own: Owner;
  /** What the kind is called in messages, such as `virtual network`. */
  readonly noun: string;
  /** Whether the annotation asks to take over what nobody manages. */
  readonly adopt: boolean;
  /** Identifier that this object has in its status. */
  readonly held: string | undefined;
  /** Whether this object has begun to create something of the name and does not know how that ended. */
  readonly began: boolean;
  /** Another object of the cluster that holds the identifier. */
  readonly holder: (id: string) => Owner | undefined;
}

/** Ours as it is, ours by adoption, or somebody's. */
export type Verdict<R extends Claimed> =
  | { readonly use: R; readonly adopted: boolean }
  | { readonly conflict: string; readonly owner?: Owner }
  | undefined;

/** Which of the remote objects of a name is this object's; nothing when there is none of the name. */
export function verdictOf<R extends Claimed>(found: readonly R[], claims: Claims): Verdict<R> {
  const { own, noun, began, adopt } = claims;
  const marked = found.find(({ comment }) => {
    const marker = markerOf(comment);
    return marker !== undefined && isSameMarker(marker, own, adopt);
  });
  if (marked !== undefined) return { use: marked, adopted: false };
  const [only] = found;
  if (only === undefined) return undefined;
  if (found.length > 1) {
    const ids = found.slice(0, 5).map(({ id }) => id);
    return {
      conflict: `multiple resources found: the account has ${found.length} of that name (${ids.join(", ")})`,
    };
  }
  const owner = ownerOf(only, claims);
  if (owner !== undefined) return { conflict: `${noun} managed by ${ownerText(owner)}`, owner };
  if (began) return { use: only, adopted: false };
  if (adopt) return { use: only, adopted: true };
  const remedy = `take it over with the annotation ${ANNOTATIONS.adopt}: "true", or choose another name`;
  return { conflict: `${noun} ${only.id} exists and is not managed by this resource; ${remedy}` };
}

/** Who else owns a remote object, by its marker or by the cluster. */
export function ownerOf({ id, comment }: Claimed, { own, held, adopt, holder }: Claims): Owner | undefined {
  const marker = markerOf(comment);
  if (marker !== undefined) return isSameMarker(marker, own, adopt || id === held) ? undefined : marker;
  return holder(id);
}
