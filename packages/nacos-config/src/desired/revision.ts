/**
 * Revisions of the pod template's generator. A StatefulSet keeps the revision that it was created with, so that a newer
 * quartet never rolls running pods by itself. Hence: what a revision generates is never changed once released.
 */

/** Revision of a StatefulSet that the peer operator created: its template is carried on, never regenerated. */
export const PEER_REVISION = "peer";
/** Revisions that this version can generate, oldest first. */
const REVISIONS = ["1"] as const;

export type TemplateRevision = typeof PEER_REVISION | (typeof REVISIONS)[number];

/** What new StatefulSets get. */
export const LATEST_REVISION: TemplateRevision = REVISIONS[REVISIONS.length - 1]!;

/** The revision of that name, `undefined` when this version does not know it. */
export function knownRevision(name: string | undefined): TemplateRevision | undefined {
  return name === PEER_REVISION ? PEER_REVISION : REVISIONS.find((revision) => revision === name);
}
