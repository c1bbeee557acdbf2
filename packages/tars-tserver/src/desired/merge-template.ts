/** Puts the managed fields of a template into a live one, whose other fields stay (MAP-046, 047, 054, 058). */
import type { DeepReadonly } from "@quartet/core";
import { templateDifference } from "@quartet/pod-template";
import { NODE_CONTAINER, RELEASE_LABEL, UNRELEASED_LABEL } from "../labels.ts";
import type { Container, ContainerPort, JsonMap, PodSpec, PodTemplate } from "./k8s.ts";

/** Members of the pod that are as wanted or absent. */
const POD_FIELDS = [
  "affinity",
  "dnsConfig",
  "dnsPolicy",
  "enableServiceLinks",
  "hostIPC",
  "hostNetwork",
  "imagePullSecrets",
  "readinessGates",
  "restartPolicy",
  "serviceAccountName",
] as const;
const MAIN_FIELDS = [
  "args",
  "command",
  "env",
  "envFrom",
  "image",
  "imagePullPolicy",
  "ports",
  "resources",
  "volumeMounts",
] as const;
const NODE_FIELDS = ["env", "image", "imagePullPolicy", "volumeMounts"] as const;

/**
 * The live template with the managed fields as wanted; `undefined` when the server would store the same as before.
 * @param ports other lists of container ports that are as good as the wanted one
 */
export function mergeTemplate(
  wanted: PodTemplate,
  live: DeepReadonly<PodTemplate>,
  ports: readonly (readonly ContainerPort[])[] = [],
): PodTemplate | undefined {
  const next = merged(wanted, structuredClone(live) as PodTemplate);
  const main = wanted.spec.containers[0]!;
  const kept = acceptablePorts(live, main.name, [main.ports ?? [], ...ports]);
  if (kept === undefined) return next;
  const same = templateDifference(withPorts(next, main.name, kept), live) === undefined;
  return same ? undefined : next;
}

function merged(wanted: PodTemplate, live: PodTemplate): PodTemplate {
  const { labels: wantedLabels, name } = wanted.metadata;
  const { [RELEASE_LABEL]: _release, ...labels } = live.metadata.labels ?? {};
  return {
    ...live,
    metadata: {
      ...live.metadata,
      ...(name !== undefined && { name }),
      labels: { ...labels, ...wantedLabels },
    },
    spec: mergedPod(wanted.spec, live.spec),
  };
}

function mergedPod(wanted: PodSpec, live: PodSpec): PodSpec {
  const spec = withFields(live, wanted, POD_FIELDS);
  // The older name of the same field, which the server keeps equal.
  if (wanted.serviceAccountName === undefined) delete spec.serviceAccount;
  else spec.serviceAccount = wanted.serviceAccountName;
  spec.containers = mergedContainers(wanted.containers, live.containers, MAIN_FIELDS);
  const init = mergedContainers(wanted.initContainers ?? [], live.initContainers ?? [], NODE_FIELDS, [
    NODE_CONTAINER,
  ]);
  if (init.length === 0) delete spec.initContainers;
  else spec.initContainers = init;
  spec.volumes = [...(wanted.volumes as Named[]), ...foreignVolumes(wanted, live)];
  const { [UNRELEASED_LABEL]: _held, ...selector } = (live.nodeSelector ?? {}) as JsonMap;
  const nodeSelector = { ...selector, ...(wanted.nodeSelector as JsonMap | undefined) };
  if (Object.keys(nodeSelector).length === 0) delete spec.nodeSelector;
  else spec.nodeSelector = nodeSelector;
  return spec;
}

/** The wanted containers with the fields that others have set, then those of others. */
function mergedContainers(
  wanted: readonly Container[],
  live: readonly Container[],
  fields: readonly string[],
  ours: readonly string[] = [],
): Container[] {
  const own = new Set([...wanted.map(({ name }) => name), ...ours]);
  const byName = new Map(live.map((container) => [container.name, container]));
  const managed = wanted.map((container) => {
    const before = byName.get(container.name);
    return before === undefined ? container : withFields(before, container, fields);
  });
  const kept = new Map(managed.map((container) => [container.name, container]));
  // In the order of the live list, so that a foreign container in front of ours does not move.
  const placed = live.flatMap((container) => {
    if (!own.has(container.name)) return [container];
    const next = kept.get(container.name);
    kept.delete(container.name);
    return next === undefined ? [] : [next];
  });
  return [...placed, ...kept.values()];
}

interface Named extends JsonMap {
  name: string;
}

/** Volumes that nobody but foreign containers use. */
function foreignVolumes(wanted: PodSpec, live: PodSpec): Named[] {
  const names = new Set((wanted.volumes as Named[]).map(({ name }) => name));
  const own = new Set([...wanted.containers, ...(wanted.initContainers ?? [])].map(({ name }) => name));
  const foreign = [...live.containers, ...(live.initContainers ?? [])].filter(({ name }) => !own.has(name));
  const used = new Set(
    foreign.flatMap(({ volumeMounts }) => ((volumeMounts ?? []) as Named[]).map(({ name }) => name)),
  );
  return ((live.volumes ?? []) as Named[]).filter(({ name }) => used.has(name) && !names.has(name));
}

function withFields<T extends JsonMap>(live: T, wanted: JsonMap, fields: readonly string[]): T {
  const result: JsonMap = { ...live };
  for (const field of fields) {
    if (wanted[field] === undefined) delete result[field];
    else result[field] = wanted[field];
  }
  return result as T;
}

/** The live ports of the main container, when they are as good as the wanted ones. */
function acceptablePorts(
  live: DeepReadonly<PodTemplate>,
  name: string,
  ports: readonly (readonly ContainerPort[])[],
): readonly ContainerPort[] | undefined {
  const container = live.spec.containers.find((one) => one.name === name);
  const found = (container?.ports ?? []) as readonly ContainerPort[];
  const { hostNetwork } = live.spec;
  // Older servers give each port of a pod on the node's network its own number there (MAP-054).
  const stripped = found.map(({ hostPort, ...port }) =>
    hostPort === undefined || (hostNetwork === true && hostPort === port.containerPort)
      ? port
      : { ...port, hostPort },
  );
  return ports.some((list) => samePorts(list, found) || samePorts(list, stripped)) ? found : undefined;
}

/** Equal but for their order, which means nothing, and which the peer throws dice for (MAP-055). */
function samePorts(a: readonly ContainerPort[], b: readonly ContainerPort[]): boolean {
  const texts = (list: readonly ContainerPort[]): string[] =>
    list
      .map(({ name, containerPort, protocol, hostPort }) =>
        JSON.stringify([name, containerPort, protocol || "TCP", hostPort ?? 0]),
      )
      .sort();
  return JSON.stringify(texts(a)) === JSON.stringify(texts(b));
}

function withPorts(template: PodTemplate, name: string, ports: readonly ContainerPort[]): PodTemplate {
  const containers = template.spec.containers.map((container) =>
    container.name === name ? { ...container, ports: [...ports] } : container,
  );
  return { ...template, spec: { ...template.spec, containers } };
}
