/** What v1alpha1 says of the pods in fields of its own, and v1alpha2 in the patch of the Deployment. */
import type { TunnelV1Alpha1 } from "../api.gen.ts";
import { readPatch } from "../desired/deploy-patch.ts";
import { isMap, sorted } from "../desired/document.ts";

type Spec = NonNullable<TunnelV1Alpha1["spec"]>;
export type PodParts = Pick<Spec, "size" | "image" | "nodeSelectors" | "tolerations">;
type Map = Record<string, unknown>;

const CONTAINER = "cloudflared";
/** What v1alpha1 takes for granted. */
const ONE_POD = 1;

/** The parts of a patch that v1alpha1 has fields for; none of a text that is no patch. */
export function partsOf(text: string): PodParts {
  const spec = mapIn(patchOf(text), "spec");
  const pod = mapIn(mapIn(spec, "template"), "spec");
  const { replicas } = spec;
  const { nodeSelector, tolerations } = pod;
  const image = containersOf(pod).find(isOurs)?.image;
  return {
    ...(Number.isInteger(replicas) && (replicas as number) >= 0 && { size: replicas as number }),
    ...(typeof image === "string" && image !== "" && { image }),
    ...(isTextMap(nodeSelector) && { nodeSelectors: nodeSelector }),
    ...(Array.isArray(tolerations) && tolerations.every(isMap) && { tolerations: tolerations as object[] }),
  } as PodParts;
}

/** The patch with other parts; the very same text where they are what it says already. */
export function patchWith(text: string, parts: PodParts): string {
  const before = partsOf(text);
  const changed = (Object.keys(WRITERS) as (keyof PodParts)[]).filter((part) => !isSame(part, before, parts));
  if (changed.length === 0) return text;
  const patch = structuredClone(patchOf(text));
  for (const part of changed) WRITERS[part](patch, parts);
  return JSON.stringify(patch);
}

function isSame(part: keyof PodParts, before: PodParts, after: PodParts): boolean {
  if (part === "size")
    return podsOf(before) === podsOf(before.size === 0 ? after : { size: after.size || ONE_POD });
  const plain = (parts: PodParts): unknown => sorted(filled(parts[part]) ?? null);
  return JSON.stringify(plain(before)) === JSON.stringify(plain(after));
}

/** In v1alpha1 no pods are none that are asked for; only a patch of v1alpha2 asks for none. */
function podsOf({ size = ONE_POD }: PodParts): number {
  return size;
}

const WRITERS: Readonly<Record<keyof PodParts, (patch: Map, parts: PodParts) => void>> = {
  size: (patch, { size = ONE_POD }) =>
    set(open(patch, "spec"), "replicas", size > ONE_POD ? size : undefined),
  nodeSelectors: (patch, { nodeSelectors }) => set(podOf(patch), "nodeSelector", filled(nodeSelectors)),
  tolerations: (patch, { tolerations }) => set(podOf(patch), "tolerations", filled(tolerations)),
  image(patch, { image }) {
    const pod = podOf(patch);
    const others = containersOf(pod).filter((one) => !isOurs(one));
    const { image: _, ...own } = containersOf(pod).find(isOurs) ?? { name: CONTAINER };
    const next = image ? { ...own, image } : Object.keys(own).length > 1 ? own : undefined;
    set(pod, "containers", filled(next === undefined ? others : [next, ...others]));
  },
};

function podOf(patch: Map): Map {
  return open(open(open(patch, "spec"), "template"), "spec");
}

/** The member as an object, made one where it is none. */
function open(parent: Map, key: string): Map {
  const child = parent[key];
  if (isMap(child)) return child;
  const made: Map = {};
  parent[key] = made;
  return made;
}

function set(parent: Map, key: string, value: unknown): void {
  if (value === undefined) delete parent[key];
  else parent[key] = value;
}

function patchOf(text: string): Map {
  try {
    return readPatch(text) ?? {};
  } catch {
    return {};
  }
}

function mapIn(parent: Map, key: string): Map {
  const child = parent[key];
  return isMap(child) ? child : {};
}

function containersOf(pod: Map): Map[] {
  return Array.isArray(pod.containers) ? pod.containers.filter(isMap) : [];
}

function isOurs({ name }: Map): boolean {
  return name === CONTAINER;
}

function isTextMap(value: unknown): value is Record<string, string> {
  return isMap(value) && Object.values(value).every((one) => typeof one === "string");
}

function filled<T extends string | object>(value: T | undefined): T | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}
