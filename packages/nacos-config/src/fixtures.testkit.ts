/** Objects for unit tests. */
import { readFileSync } from "node:fs";
import type { KubeObject } from "@quartet/core";
import type { ConfigObject, Container, EnvVar, JsonMap, PodTemplate, StatefulSet } from "@quartet/core/kinds";
import type { Nacos } from "./api.gen.ts";
import type { TemplateRevision } from "./desired/revision.ts";
import { type NacosSpec, settingsOf } from "./desired/settings.ts";
import { podTemplate } from "./desired/template.ts";
import type { MountedConfig } from "./desired/volumes.ts";
import type { Pass } from "./reconcile/pass.ts";

export const IMAGE = "nacos/nacos-server:v2.4.3";
export const NONE: MountedConfig = { mode: "none" };
export const MERGED: MountedConfig = {
  mode: "merged",
  name: "demo-final",
  kind: "ConfigMap",
  digest: "c9294469fec85948",
};

/** A resource `t/demo` of type standalone with an image. */
export function nacos(spec: JsonMap = {}, metadata: Partial<Nacos["metadata"]> = {}): Nacos {
  return {
    apiVersion: "nacos.io/v1alpha1",
    kind: "Nacos",
    metadata: { name: "demo", namespace: "t", uid: "uid-demo", generation: 1, ...metadata },
    spec: { image: IMAGE, ...spec } as NacosSpec as NonNullable<Nacos["spec"]>,
  };
}

/** Like {@link nacos}, a cluster of three. */
export function clusterOf(spec: JsonMap = {}, metadata: Partial<Nacos["metadata"]> = {}): Nacos {
  return nacos({ type: "cluster", replicas: 3, ...spec }, metadata);
}

/** A pass for steps that write no objects; each reference is found to be `referred`. */
export function passOf(resource: Nacos, referred: KubeObject, parts: Partial<Pass>): Pass {
  const settings = settingsOf(resource);
  const { namespace, name } = settings;
  const outcome = { failures: [], reports: [], stepStatus: {}, recreating: false, notices: [] };
  const ctx = { log: { info: () => {}, warn: () => {} }, cache: { referred: () => [referred] } };
  return { resource, settings, key: { namespace, name }, ctx, ...outcome, ...parts } as unknown as Pass;
}

/** Pod template, of revision 1 unless said otherwise. */
export function templateOf(
  resource: Nacos,
  config: MountedConfig = NONE,
  revision: TemplateRevision = "1",
): PodTemplate {
  return podTemplate(settingsOf(resource), config, revision);
}

/** The Nacos container of a template. */
export function nacosContainerOf(template: PodTemplate, name = "demo"): Container {
  return template.spec.containers.find((container) => container.name === name)!;
}

/** Environment as `NAME=value` lines, with `NAME<-secret/key` for references. */
export function envOf(container: Container): string[] {
  return (container.env ?? []).map((variable) => line(variable));
}

function line({ name, value, valueFrom }: EnvVar): string {
  const ref = valueFrom?.secretKeyRef as { name: string; key: string } | undefined;
  return ref === undefined ? `${name}=${value ?? ""}` : `${name}<-${ref.name}/${ref.key}`;
}

export function configMap(
  name: string,
  data: Record<string, string>,
  more: Partial<ConfigObject> = {},
): ConfigObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "t" }, data, ...more };
}

/** A Secret; values are plain text here. */
export function secret(name: string, data: Record<string, string>): ConfigObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return { ...configMap(name, Object.fromEntries(encoded)), kind: "Secret" };
}

/** The object as the API server would store it: what was created, with the given fields on top. */
export function stored<T extends { metadata: JsonMap | object }>(object: T, metadata: object = {}): T {
  const copy = structuredClone(object);
  copy.metadata = {
    uid: `uid-${(copy.metadata as { name?: string }).name}`,
    resourceVersion: "1",
    ...copy.metadata,
    ...metadata,
  };
  return copy;
}

/** A case of the recorded behaviour of the peer operator. */
export interface PeerCase {
  name: string;
  steps: {
    op: "apply" | "merge" | "delete";
    object: JsonMap & { kind: string; metadata: { name: string } };
  }[];
  expect: {
    children: (JsonMap & { kind: string; metadata: JsonMap; spec: JsonMap })[];
    /** State at rest after a step. */
    trace: {
      afterStep: number;
      statefulSet?: null;
      templateChanged?: boolean;
      replicas?: number;
      digest?: string;
    }[];
  };
}

/** A StatefulSet of the peer, with the resource that it was made for. */
export interface PeerAdoption {
  name: string;
  resource: Nacos;
  sources: ConfigObject[];
  statefulSet: StatefulSet;
  otherChildren: JsonMap[];
}

export function peerCases(): PeerCase[] {
  return lines<PeerCase>("peer-cases");
}

export function peerAdoptions(): PeerAdoption[] {
  return lines<PeerAdoption>("peer-adoption");
}

function lines<T>(name: string): T[] {
  const text = readFileSync(new URL(`../test/corpus/${name}.jsonl`, import.meta.url), "utf8");
  return text
    .trim()
    .split("\n")
    .map((row) => JSON.parse(row) as T);
}
