/** The StatefulSet: as it is created, and what an existing one needs. */
import { type DeepReadonly, sameJson } from "@quartet/core";
import type { JsonMap, PodTemplate, StatefulSet } from "@quartet/core/kinds";
import { carryTemplate, overLive, templateDifference } from "@quartet/pod-template";
import { canonicalJson } from "./digest.ts";
import { metadataOf, metadataOver } from "./family.ts";
import {
  CONFIG_DIGEST_ANNOTATION,
  fixedLabels,
  headlessServiceName,
  LAST_APPLIED_ANNOTATION,
  TEMPLATE_REVISION_ANNOTATION,
} from "./names.ts";
import { knownRevision, LATEST_REVISION, PEER_REVISION, type TemplateRevision } from "./revision.ts";
import type { NacosResource, Settings } from "./settings.ts";
import { podTemplate } from "./template.ts";
import { claimTemplates, type MountedConfig, mountedConfig } from "./volumes.ts";

/**
 * Pods are replaced one by one. The partition is written out: without `rollingUpdate` the StatefulSet controller makes
 * a replaced pod by the old template while old pods are left, and under the Parallel policy deletes it again, without
 * end, when the template changes in the middle of a rollout (measured on Kubernetes 1.37).
 */
const UPDATE_STRATEGY: JsonMap = { type: "RollingUpdate", rollingUpdate: { partition: 0 } };

/** Seconds that a pod must stay Ready before the next one is replaced: time for Nacos to rejoin its cluster. */
const MIN_READY_SECONDS = 10;

/** What becomes of the claims with the StatefulSet unless the resource asks for something else. */
const KEPT_CLAIMS: JsonMap = { whenDeleted: "Retain", whenScaled: "Retain" };

/** Annotations of the template that come and go with the configuration. */
const OWN_ANNOTATIONS = [CONFIG_DIGEST_ANNOTATION];

/** Revision that the resource asks for; `undefined` when it asks for none or for one that is not known. */
export function requestedRevision(resource: NacosResource): TemplateRevision | undefined {
  const requested = knownRevision(resource.metadata.annotations?.[TEMPLATE_REVISION_ANNOTATION]);
  return requested === PEER_REVISION ? undefined : requested;
}

/** Revision of a live StatefulSet; one without mark was made by the peer. */
export function revisionOf(live: DeepReadonly<StatefulSet>): string {
  return live.metadata.annotations?.[TEMPLATE_REVISION_ANNOTATION] ?? PEER_REVISION;
}

/** A StatefulSet that does not exist yet. */
export function newStatefulSet(settings: Settings, config: MountedConfig): StatefulSet {
  const { resource, name, type, replicas } = settings;
  const revision = requestedRevision(resource) ?? LATEST_REVISION;
  const template = podTemplate(settings, config, revision);
  const labels = { ...resource.metadata.labels, ...fixedLabels(name) };
  const claims = claimTemplates(settings.spec);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: metadataOf(resource, name, {
      [TEMPLATE_REVISION_ANNOTATION]: revision,
      [LAST_APPLIED_ANNOTATION]: canonicalJson(template),
    }),
    spec: {
      replicas,
      selector: { matchLabels: fixedLabels(name) },
      ...(type === "cluster" ? { serviceName: headlessServiceName(name) } : {}),
      podManagementPolicy: "Parallel",
      updateStrategy: UPDATE_STRATEGY,
      minReadySeconds: MIN_READY_SECONDS,
      ...retention(settings, {}),
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...(claims.length > 0 && { volumeClaimTemplates: claims }),
    },
  };
}

/** How the pod template of a live StatefulSet comes about; nothing is generated for a revision that is not known. */
interface Generation {
  readonly revision: TemplateRevision | undefined;
  /** The peer made it, and it carries no mark yet. */
  readonly adopted: boolean;
  readonly lastApplied: string | undefined;
  readonly generated?: PodTemplate;
  /** The template that the StatefulSet should have. */
  readonly template?: PodTemplate;
}

function generationOf(
  settings: Settings,
  config: MountedConfig,
  live: DeepReadonly<StatefulSet>,
): Generation {
  const revision = requestedRevision(settings.resource) ?? knownRevision(revisionOf(live));
  const annotations = live.metadata.annotations ?? {};
  const adopted = annotations[TEMPLATE_REVISION_ANNOTATION] === undefined;
  const lastApplied = annotations[LAST_APPLIED_ANNOTATION];
  if (revision === undefined) return { revision, adopted, lastApplied };
  const generated = podTemplate(settings, adopted ? mountedConfig(live) : config, revision);
  const before = (live as StatefulSet).spec.template;
  const template = nextTemplate(revision, generated, lastApplied, before, adopted);
  return { revision, adopted, lastApplied, generated, template };
}

/** Pod template that an existing StatefulSet should have; `undefined` when its revision is not known. */
export function wantedTemplate(
  settings: Settings,
  config: MountedConfig,
  live: DeepReadonly<StatefulSet>,
): PodTemplate | undefined {
  return generationOf(settings, config, live).template;
}

/** What an existing StatefulSet needs. */
export interface StatefulSetUpdate {
  /** The object to write; equal to the live one when nothing is to be done. */
  readonly object: StatefulSet;
  readonly changed: boolean;
  /** First differing field of the pod template, when it changes. */
  readonly templateChange?: string;
  readonly replicasChanged: boolean;
  /** Somebody else edited a field of the operator's; it is put back. */
  readonly drift: boolean;
}

/**
 * The live StatefulSet brought to what the resource wants. Volumes and other immutable fields stay as they are. One that
 * the peer made is only marked: changes, of the configuration too, follow when it carries the mark.
 */
export function updatedStatefulSet(
  settings: Settings,
  config: MountedConfig,
  live: DeepReadonly<StatefulSet>,
): StatefulSetUpdate {
  const before = live as StatefulSet;
  const { revision, adopted, lastApplied, generated, template } = generationOf(settings, config, live);
  const change = template === undefined ? undefined : templateDifference(template, before.spec.template);
  const replicasChanged = before.spec.replicas !== settings.replicas;
  const marks = generated && (change !== undefined || adopted || lastApplied === undefined);
  const metadata = metadataOver(
    before.metadata,
    metadataOf(
      settings.resource,
      settings.name,
      marks
        ? { [TEMPLATE_REVISION_ANNOTATION]: revision!, [LAST_APPLIED_ANNOTATION]: canonicalJson(generated) }
        : {},
    ),
  );
  const object: StatefulSet = {
    ...before,
    metadata,
    spec: {
      ...before.spec,
      replicas: settings.replicas,
      ...strategy(before.spec),
      ...minReady(revision, before.spec),
      ...retention(settings, before.spec),
      ...(change === undefined ? {} : { template: template! }),
    },
  };
  const inputsChanged = generated !== undefined && lastApplied !== canonicalJson(generated);
  return {
    object,
    changed: !sameJson(object, before),
    ...(change === undefined ? {} : { templateChange: change }),
    replicasChanged,
    drift: change !== undefined && !inputsChanged,
  };
}

/** The template that the StatefulSet should have: generated, or for the peer's, the live one with the changes. */
function nextTemplate(
  revision: TemplateRevision,
  generated: PodTemplate,
  lastApplied: string | undefined,
  live: PodTemplate,
  adopted: boolean,
): PodTemplate {
  if (revision !== PEER_REVISION) return overLive(generated, live, OWN_ANNOTATIONS);
  if (adopted || lastApplied === undefined) return live;
  const { spec } = carryTemplate(JSON.parse(lastApplied) as PodTemplate, generated, live);
  return overLive({ metadata: { ...generated.metadata, labels: {} }, spec }, live, OWN_ANNOTATIONS);
}

/** Pods are always replaced by the StatefulSet controller; a partition set by hand is left alone. */
function strategy(live: JsonMap): JsonMap {
  const current = live.updateStrategy as JsonMap | undefined;
  const rolls = current?.type === "RollingUpdate" && current.rollingUpdate !== undefined;
  return rolls ? {} : { updateStrategy: UPDATE_STRATEGY };
}

function minReady(revision: TemplateRevision | undefined, live: JsonMap): JsonMap {
  const owned = revision !== undefined && revision !== PEER_REVISION;
  return owned && live.minReadySeconds !== MIN_READY_SECONDS ? { minReadySeconds: MIN_READY_SECONDS } : {};
}

/** Servers without the field keep all claims. */
function retention({ spec }: Settings, live: JsonMap): JsonMap {
  const wanted =
    spec.volume?.deletePolicy === "Delete" ? { ...KEPT_CLAIMS, whenDeleted: "Delete" } : KEPT_CLAIMS;
  const found = live.persistentVolumeClaimRetentionPolicy ?? KEPT_CLAIMS;
  return sameJson(wanted, found) ? {} : { persistentVolumeClaimRetentionPolicy: wanted };
}
