/** What all children of a Nacos resource have in common. */
import {
  childMetadata,
  type DeepReadonly,
  type Family,
  mergedMetadata,
  type ObjectMeta,
} from "@quartet/core";
import type { Nacos } from "../api.gen.ts";
import { NACOS } from "../kinds.ts";
import { fixedLabels, INHERITED_ANNOTATION, isPrivateAnnotation } from "./names.ts";
import type { NacosResource } from "./settings.ts";

export const FAMILY: Family<Nacos> = {
  owner: NACOS,
  labels: ({ metadata }) => fixedLabels(metadata.name ?? ""),
  adopts: ({ metadata: { labels } }, owner) =>
    labels?.app === owner.metadata.name && labels?.middleware === "nacos",
  inherits: { annotation: INHERITED_ANNOTATION, isPrivate: isPrivateAnnotation },
};

/** Metadata of a child that does not exist yet. */
export function metadataOf(
  resource: NacosResource,
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): ObjectMeta {
  return childMetadata(FAMILY, resource as DeepReadonly<Nacos>, name, annotations);
}

/** Metadata of an existing child, brought to what is desired. */
export function metadataOver(live: DeepReadonly<ObjectMeta>, desired: ObjectMeta): ObjectMeta {
  return mergedMetadata(FAMILY, live, desired);
}
