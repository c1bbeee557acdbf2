/** TImage: defaulting (M-046 to 048). */
import { isMap } from "@quartet/pod-template";
import type { TImage } from "../api.gen.ts";
import { IMAGE_TYPE_LABEL, SUPPORTED_LABEL_PREFIX } from "../labels.ts";
import { setLabels } from "./labels.ts";

/** The image with its labels, each release once, and a time for each. `now` is RFC 3339. */
export function mutateImage(object: TImage, now: string): TImage {
  const { imageType, supportedType, releases } = object;
  const stale = Object.keys(object.metadata.labels ?? {}).filter((label) =>
    label.startsWith(SUPPORTED_LABEL_PREFIX),
  );
  const hasTypes = (imageType === "base" || imageType === "server") && Array.isArray(supportedType);
  const labelled = hasTypes ? supportedType : [];
  setLabels(object, {
    ...Object.fromEntries(stale.map((label) => [label, undefined])),
    [IMAGE_TYPE_LABEL]: imageType,
    ...Object.fromEntries(
      labelled
        .filter((type) => typeof type === "string")
        .map((type) => [`${SUPPORTED_LABEL_PREFIX}${type}`, type]),
    ),
  });
  if (Array.isArray(releases)) {
    const seen = new Set<string>();
    object.releases = releases
      .filter((release) => !isMap(release) || (!seen.has(release.id) && seen.add(release.id)))
      .map((release) => (!isMap(release) || release.createTime ? release : { ...release, createTime: now }));
  }
  return object;
}
