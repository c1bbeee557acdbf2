/**
 * Making a StatefulSet anew around its running pods: only so can its claim templates change. What is to be created is
 * written down in a Secret first, so that an operator that dies between deletion and creation finds it again.
 */
import type { DeepReadonly } from "@quartet/core";
import type { ClaimTemplate, ConfigObject, StatefulSet } from "./k8s.ts";
import { ALLOW_RECREATE_ANNOTATION, recreateSecretName } from "./names.ts";
import { childMetadata } from "./ownership.ts";
import type { NacosResource } from "./settings.ts";

/** Key of the record's manifest. */
const MANIFEST_KEY = "statefulset.json";

/**
 * The StatefulSet as it is to be created: the live one without what the server adds, with other claim templates. Its
 * pod template stays byte for byte, so no pod is replaced.
 */
export function recreatedStatefulSet(
  live: DeepReadonly<StatefulSet>,
  claims: readonly ClaimTemplate[],
): StatefulSet {
  const { apiVersion, kind, metadata, spec } = live as StatefulSet;
  const { name, namespace, labels, annotations, ownerReferences } = metadata;
  const { volumeClaimTemplates: _old, ...rest } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      name: name!,
      namespace: namespace!,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(ownerReferences && { ownerReferences }),
    },
    spec: { ...rest, ...(claims.length > 0 ? { volumeClaimTemplates: [...claims] } : {}) },
  };
}

/** The Secret that keeps the manifest. */
export function recreateRecord(resource: NacosResource, manifest: StatefulSet): ConfigObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: childMetadata(resource, recreateSecretName(resource.metadata.name ?? "")),
    type: "Opaque",
    data: { [MANIFEST_KEY]: Buffer.from(JSON.stringify(manifest), "utf8").toString("base64") },
  };
}

/** The manifest in a record; `undefined` when it holds none. */
export function manifestOf(record: DeepReadonly<ConfigObject>): StatefulSet | undefined {
  try {
    return JSON.parse(
      Buffer.from(record.data?.[MANIFEST_KEY] ?? "", "base64").toString("utf8"),
    ) as StatefulSet;
  } catch {
    return undefined;
  }
}

/** True when the resource allows other volumes for exactly this generation of its spec. */
export function allowsRecreate({ metadata }: NacosResource): boolean {
  const allowed = metadata.annotations?.[ALLOW_RECREATE_ANNOTATION];
  return allowed !== undefined && allowed === String(metadata.generation);
}
