/** Owner and mode of local volumes, as annotations on their claims. */
import { keyOf } from "@quartet/core";
import { localLabels } from "../desired/volumes.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { CLAIM } from "../kinds.ts";
import {
  LOCAL_VOLUME_GID_ANNOTATION,
  LOCAL_VOLUME_MODE_ANNOTATION,
  LOCAL_VOLUME_UID_ANNOTATION,
} from "../labels.ts";
import type { Pass } from "./pass.ts";

/** Defaults of the schema. */
const DEFAULT = { uid: "0", gid: "0", mode: "755" };

/** Annotates the claims of the server's local volumes. */
export async function annotateClaims({ ctx, model, informers }: Pass): Promise<void> {
  for (const { name = "", source } of model.k8s.mounts ?? []) {
    if (source?.tLocalVolume === undefined) continue;
    const { uid, gid, mode } = { ...DEFAULT, ...source.tLocalVolume };
    const wanted: Record<string, string> = {
      [LOCAL_VOLUME_UID_ANNOTATION]: uid,
      [LOCAL_VOLUME_GID_ANNOTATION]: gid,
      [LOCAL_VOLUME_MODE_ANNOTATION]: mode,
    };
    const labels = localLabels(model, name);
    for (const claim of informers.claims.list({ namespace: model.namespace, labels })) {
      const { annotations = {}, deletionTimestamp } = claim.metadata;
      const same = Object.entries(wanted).every(([key, value]) => annotations[key] === value);
      if (same || deletionTimestamp !== undefined) continue;
      await ctx.client.patch(
        CLAIM,
        keyOf(claim),
        { type: "merge", body: { metadata: { annotations: wanted } } },
        { signal: ctx.signal, fieldManager: FIELD_MANAGER },
      );
    }
  }
}
