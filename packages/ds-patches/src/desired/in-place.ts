/** Which pods can be brought to another template without being made anew, and when that is done (DSP-817 to 826). */
import type { DeepReadonly } from "@quartet/core";
import type { ContainerStatus, Pod } from "@quartet/core/kinds";
import type { JsonMap } from "@quartet/strategic-merge";
import type { PodTemplate } from "../api.ts";
import { mapOf, mapsOf } from "../json.ts";
import { canonicalJson } from "./canonical.ts";
import { goTemplate } from "./go-template.ts";
import { IN_PLACE_STATE } from "./keys.ts";

type Values = Record<string, string | null>;

/** What changes of a pod; `null` stands for a label or annotation that goes. */
export interface InPlaceChange {
  /** By the name of the container. */
  readonly images: Readonly<Record<string, string>>;
  readonly labels: Values;
  readonly annotations: Values;
}

/** The difference of two effective templates; `undefined` when it is more than images, labels and annotations. */
export function inPlaceChange(before: PodTemplate, after: PodTemplate): InPlaceChange | undefined {
  const [old, next] = [goTemplate(before), goTemplate(after)];
  if (canonicalJson(frame(old)) !== canonicalJson(frame(next))) return undefined;
  const images: Record<string, string> = {};
  const now = containersOf(next);
  for (const [place, { image }] of containersOf(old).entries()) {
    const { name, image: wanted } = now[place]!;
    if (image === wanted) continue;
    if (typeof image !== "string" || typeof wanted !== "string") return undefined;
    images[String(name)] = wanted;
  }
  const [labels, annotations] = [changes(old, next, "labels"), changes(old, next, "annotations")];
  const read = referredFields(now);
  const isRead = (field: string, values: Values): boolean =>
    Object.keys(values).some((key) => read.has(`metadata.${field}['${key}']`));
  if (isRead("labels", labels) || isRead("annotations", annotations)) return undefined;
  return { images, labels, annotations };
}

/** The template without what may change. */
function frame(template: JsonMap): unknown {
  const { metadata, spec } = template;
  const { labels: _, annotations: __, ...rest } = mapOf(metadata);
  const containers = containersOf(template).map(({ image: ___, ...container }) => container);
  return { metadata: rest, spec: { ...mapOf(spec), containers } };
}

function containersOf({ spec }: JsonMap): JsonMap[] {
  return mapsOf(mapOf(spec).containers);
}

function changes(before: JsonMap, after: JsonMap, field: string): Values {
  const [old, next] = [before, after].map(({ metadata }) => mapOf(mapOf(metadata)[field])) as [
    JsonMap,
    JsonMap,
  ];
  const result: Values = {};
  for (const key of Object.keys(old)) if (!Object.hasOwn(next, key)) result[key] = null;
  for (const [key, value] of Object.entries(next)) if (old[key] !== value) result[key] = String(value);
  return result;
}

/** Fields of the pod that a container takes into its environment when it starts. */
function referredFields(containers: readonly JsonMap[]): Set<string> {
  const variables = containers.flatMap(({ env }) => mapsOf(env));
  const paths = variables.map(({ valueFrom }) => mapOf(mapOf(valueFrom).fieldRef).fieldPath);
  return new Set(paths.map((path) => String(path).replaceAll('"', "'")));
}

/** The annotation that tells of an update, in the form of the peer; `now` in milliseconds since the Unix epoch. */
export function inPlaceState(
  revision: string,
  images: InPlaceChange["images"],
  statuses: readonly DeepReadonly<ContainerStatus>[],
  now: number,
): string {
  const timestamp = seconds(now);
  const containers = Object.keys(images);
  const last = containers.map((name) => {
    const status = statuses.find((candidate) => candidate.name === name);
    return [name, { imageID: status?.imageID ?? "" }];
  });
  const changed = containers.length > 0;
  return JSON.stringify({
    revision,
    updateTimestamp: timestamp,
    lastContainerStatuses: Object.fromEntries(last),
    ...(changed && { updateImages: true, containerBatchesRecord: [{ timestamp, containers }] }),
  });
}

/** A time in the form of the API server, without fractions of a second. */
export function seconds(now: number): string {
  return new Date(now).toISOString().replace(/\.[0-9]+Z$/, "Z");
}

/** Whether the containers that the annotation names run what they were told to (DSP-823); true without one. */
export function isUpdateComplete({
  metadata,
  spec,
  status,
}: Pick<DeepReadonly<Pod>, "metadata" | "spec" | "status">): boolean {
  const state = readState(metadata.annotations?.[IN_PLACE_STATE]);
  const started = Date.parse(String(state.updateTimestamp)) || 0;
  return Object.entries(mapOf(state.lastContainerStatuses)).every(([name, last]) => {
    const now = status?.containerStatuses?.find((candidate) => candidate.name === name);
    if (now === undefined) return false;
    const wanted = spec?.containers?.find((container) => container.name === name)?.image;
    if ((now.imageID ?? "") !== mapOf(last).imageID) return true;
    if (wanted === undefined || normalImage(now.image ?? "") === normalImage(wanted)) return true;
    return Date.parse(now.state?.running?.startedAt ?? "") > started;
  });
}

/** An annotation that is no JSON object says nothing. */
function readState(text = "{}"): JsonMap {
  try {
    return mapOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** An image name with what Docker's short form leaves out. */
function normalImage(image: string): string {
  const withTag = /[:@]/.test(image.slice(image.lastIndexOf("/") + 1)) ? image : `${image}:latest`;
  const parts = withTag.split("/");
  const [first = ""] = parts;
  const hasHost = parts.length > 1 && /[.:]|^localhost$/.test(first);
  const path = hasHost ? withTag : parts.length > 1 ? `docker.io/${withTag}` : `docker.io/library/${withTag}`;
  return path.replace(/^index\.docker\.io\//, "docker.io/");
}
