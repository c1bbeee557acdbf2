/**
 * Making a StatefulSet anew around its running pods: only so can its claim templates change. What is to be created is
 * written down first, so that an operator that dies between deletion and creation finds it again. The record is a
 * ControllerRevision, a kind that users of a namespace cannot write; and name, namespace, kind, labels and owner of what
 * is created are those of the resource, whatever a record says.
 */
import { controllerReference, type DeepReadonly } from "@quartet/core";
import type {
  ClaimTemplate,
  ControllerRevision,
  JsonMap,
  PodTemplate,
  StatefulSet,
} from "@quartet/core/kinds";
import { isMap, mapOf } from "@quartet/pod-template";
import { NACOS } from "../kinds.ts";
import { metadataOf, metadataOver } from "./family.ts";
import { ALLOW_RECREATE_ANNOTATION, RECORD_LABELS, recreateRecordName } from "./names.ts";
import type { NacosResource } from "./settings.ts";

/** A ControllerRevision whose data is what a StatefulSet is to be made of. */
export type RecreateRecord = ControllerRevision;

/** A StatefulSet without its identity. */
interface RecordedSet {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly spec: StatefulSet["spec"];
}

/** The record of a live StatefulSet with other claim templates: its pod template stays byte for byte. */
export function recreateRecord(
  resource: NacosResource,
  { metadata, spec }: DeepReadonly<Pick<StatefulSet, "metadata" | "spec">>,
  claims: readonly ClaimTemplate[],
  template: DeepReadonly<PodTemplate> = spec.template,
): RecreateRecord {
  const { volumeClaimTemplates: _old, ...rest } = spec as StatefulSet["spec"];
  const { name = "", namespace = "" } = resource.metadata;
  const data = {
    ...(metadata.labels && { labels: metadata.labels }),
    ...(metadata.annotations && { annotations: metadata.annotations }),
    spec: { ...rest, template, ...(claims.length > 0 && { volumeClaimTemplates: [...claims] }) },
  };
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: recreateRecordName(name),
      namespace,
      labels: { ...RECORD_LABELS },
      ownerReferences: [controllerReference(NACOS, resource)],
    },
    revision: 1,
    data: data as unknown as JsonMap,
  };
}

/** The StatefulSet of a record; `undefined` when it holds none. */
export function recordedStatefulSet(
  resource: NacosResource,
  { data }: DeepReadonly<RecreateRecord>,
): StatefulSet | undefined {
  if (!isMap(mapOf(data).spec)) return undefined;
  const { labels, annotations, spec } = data as unknown as RecordedSet;
  const wanted = metadataOf(resource, resource.metadata.name ?? "");
  const others = { ...(labels && { labels }), ...(annotations && { annotations }) };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { ...metadataOver(others, wanted), name: wanted.name!, namespace: wanted.namespace! },
    spec,
  };
}

/** True when the resource allows other volumes for exactly this generation of its spec. */
export function allowsRecreate({ metadata }: NacosResource): boolean {
  const allowed = metadata.annotations?.[ALLOW_RECREATE_ANNOTATION];
  return allowed !== undefined && allowed === String(metadata.generation);
}
