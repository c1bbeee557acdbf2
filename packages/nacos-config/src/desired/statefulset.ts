/** The StatefulSet: as it is created, and what an existing one needs. */
import type { DeepReadonly } from "@quartet/core";
import { carryOver } from "./carry-over.ts";
import { difference, sameJson } from "./compare.ts";
import { canonicalJson } from "./digest.ts";
import type { JsonMap, PodTemplate, StatefulSet } from "./k8s.ts";
import {
  CONFIG_DIGEST_ANNOTATION,
  fixedLabels,
  headlessServiceName,
  LAST_APPLIED_ANNOTATION,
  TEMPLATE_REVISION_ANNOTATION,
} from "./names.ts";
import { childMetadata, mergedMetadata } from "./ownership.ts";
import { knownRevision, LATEST_REVISION, PEER_REVISION, type TemplateRevision } from "./revision.ts";
import type { NacosResource, Settings } from "./settings.ts";
import { podTemplate } from "./template.ts";
import { POD_SPEC_SHAPE } from "./template-shape.ts";
import { dataVolume, type MountedConfig, mountedConfig } from "./volumes.ts";

/** Seconds that a pod must stay Ready before the next one is replaced: time for Nacos to rejoin its cluster. */
const MIN_READY_SECONDS = 10;

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
export function newStatefulSet(
  resource: NacosResource,
  settings: Settings,
  config: MountedConfig,
): StatefulSet {
  const { name, type, replicas } = settings;
  const revision = requestedRevision(resource) ?? LATEST_REVISION;
  const template = podTemplate(settings, config, revision);
  const labels = { ...resource.metadata.labels, ...fixedLabels(name) };
  const claim = dataVolume(settings.spec)?.claim;
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: childMetadata(resource, name, {
      [TEMPLATE_REVISION_ANNOTATION]: revision,
      [LAST_APPLIED_ANNOTATION]: canonicalJson(template),
    }),
    spec: {
      replicas,
      selector: { matchLabels: fixedLabels(name) },
      ...(type === "cluster" ? { serviceName: headlessServiceName(name) } : {}),
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate" },
      minReadySeconds: MIN_READY_SECONDS,
      ...(claimsAreDeleted(settings)
        ? { persistentVolumeClaimRetentionPolicy: claimRetention(settings) }
        : {}),
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...(claim === undefined ? {} : { volumeClaimTemplates: [claim] }),
    },
  };
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
  resource: NacosResource,
  settings: Settings,
  config: MountedConfig,
  live: DeepReadonly<StatefulSet>,
): StatefulSetUpdate {
  const before = live as StatefulSet;
  const revision = requestedRevision(resource) ?? knownRevision(revisionOf(live));
  const adopted = before.metadata.annotations?.[TEMPLATE_REVISION_ANNOTATION] === undefined;
  const generated = revision && podTemplate(settings, adopted ? mountedConfig(live) : config, revision);
  const lastApplied = before.metadata.annotations?.[LAST_APPLIED_ANNOTATION];
  const template = generated && nextTemplate(revision, generated, lastApplied, before.spec.template, adopted);
  const change = template === undefined ? undefined : templateDifference(template, before.spec.template);
  const replicasChanged = before.spec.replicas !== settings.replicas;
  const marks = generated && (change !== undefined || adopted || lastApplied === undefined);
  const metadata = mergedMetadata(
    before.metadata,
    childMetadata(
      resource,
      settings.name,
      marks
        ? { [TEMPLATE_REVISION_ANNOTATION]: revision, [LAST_APPLIED_ANNOTATION]: canonicalJson(generated) }
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
  if (revision !== PEER_REVISION) return keepForeign(generated, live);
  if (adopted || lastApplied === undefined) return live;
  const { spec } = carryOver(JSON.parse(lastApplied) as PodTemplate, generated, live);
  return keepForeign({ metadata: { ...generated.metadata, labels: {} }, spec }, live);
}

/** The template with the live labels, which are frozen, and with the annotations of others. */
function keepForeign(template: PodTemplate, live: PodTemplate): PodTemplate {
  const { [CONFIG_DIGEST_ANNOTATION]: _own, ...foreign } = live.metadata?.annotations ?? {};
  const annotations = { ...foreign, ...template.metadata.annotations };
  return {
    metadata: {
      ...live.metadata,
      labels: { ...live.metadata?.labels, ...template.metadata.labels },
      annotations,
    },
    spec: template.spec,
  };
}

function templateDifference(desired: PodTemplate, live: PodTemplate): string | undefined {
  return (
    difference(desired.metadata, live.metadata ?? {}, {}, "metadata") ??
    difference(desired.spec, live.spec, POD_SPEC_SHAPE, "spec")
  );
}

/** Pods are always replaced by the StatefulSet controller; a partition set by hand is left alone. */
function strategy(live: JsonMap): JsonMap {
  const current = live.updateStrategy as JsonMap | undefined;
  return current?.type === "RollingUpdate" ? {} : { updateStrategy: { type: "RollingUpdate" } };
}

function minReady(revision: TemplateRevision | undefined, live: JsonMap): JsonMap {
  const owned = revision !== undefined && revision !== PEER_REVISION;
  return owned && live.minReadySeconds !== MIN_READY_SECONDS ? { minReadySeconds: MIN_READY_SECONDS } : {};
}

function claimsAreDeleted({ spec }: Settings): boolean {
  return spec.volume?.deletePolicy === "Delete";
}

function claimRetention(settings: Settings): JsonMap {
  return { whenDeleted: claimsAreDeleted(settings) ? "Delete" : "Retain", whenScaled: "Retain" };
}

/** Servers without the field keep all claims. */
function retention(settings: Settings, live: JsonMap): JsonMap {
  const wanted = claimRetention(settings);
  const found = live.persistentVolumeClaimRetentionPolicy ?? claimRetention({ ...settings, spec: {} });
  return sameJson(wanted, found) ? {} : { persistentVolumeClaimRetentionPolicy: wanted };
}
