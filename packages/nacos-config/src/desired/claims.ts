/** Whether the volumes that a resource asks for can be had without making the StatefulSet anew. */
import { type DeepReadonly, sameJson } from "@quartet/core";
import type { ClaimTemplate, JsonMap, PodTemplate, StatefulSet } from "@quartet/core/kinds";
import { compareQuantities, itemsOf, mapOf } from "@quartet/pod-template";
import { DATA_PATH } from "./names.ts";
import { mountPoint } from "./wrapper/container.ts";

/** How the volumes that are wanted differ from those that a StatefulSet has. */
export type ClaimChange = { readonly change: "none" } | VolumeChange;

/** A change that takes a StatefulSet that is made anew. */
export type VolumeChange =
  | { readonly change: "grown"; readonly from: string; readonly to: string }
  | { readonly change: "shrunk"; readonly from: string; readonly to: string }
  /** Anything else; `what` names it. */
  | { readonly change: "unsupported"; readonly what: string; readonly from: string; readonly to: string };

/** Compares claim templates by what they ask of the storage; their labels and the server's additions do not count. */
export function claimChange(
  desired: { readonly template: PodTemplate; readonly claims: readonly ClaimTemplate[] },
  live: DeepReadonly<StatefulSet>,
): ClaimChange {
  const { template, volumeClaimTemplates } = (live as StatefulSet).spec;
  const before = volumeClaimTemplates ?? [];
  const after = desired.claims;
  const name = live.metadata.name ?? "";
  const kinds = [dataKind(template, before, name), dataKind(desired.template, after, name)] as const;
  if (kinds[0] !== kinds[1]) return unsupported("kind of the data volume", ...kinds);
  if (before.length !== after.length) return unsupported("number of claims", before.length, after.length);
  let result: ClaimChange = { change: "none" };
  for (const [index, wanted] of after.entries()) {
    const change = oneClaim(before[index]!, wanted);
    if (change.change === "unsupported" || change.change === "shrunk") return change;
    if (change.change === "grown") result = change;
  }
  return result;
}

function oneClaim(before: ClaimTemplate, after: ClaimTemplate): ClaimChange {
  if (before.metadata.name !== after.metadata.name) {
    return unsupported("name of the claim", before.metadata.name, after.metadata.name);
  }
  // Without a class of its own the claim has the class that the live one got.
  const storageClass = after.spec.storageClassName ?? before.spec.storageClassName;
  if (storageClass !== before.spec.storageClassName) {
    return unsupported("storage class", before.spec.storageClassName, storageClass);
  }
  if (!sameJson(before.spec.accessModes, after.spec.accessModes)) {
    return unsupported("access modes", before.spec.accessModes, after.spec.accessModes);
  }
  const sizes = [storageOf(before), storageOf(after)] as const;
  const order = compareQuantities(sizes[1], sizes[0]);
  if (order === 0 || sizes[0] === sizes[1]) return { change: "none" };
  if (order === undefined) return unsupported("storage request", ...sizes);
  return { change: order > 0 ? "grown" : "shrunk", from: String(sizes[0]), to: String(sizes[1]) };
}

/** Storage request of a claim or claim template. */
export function storageOf({ spec }: { readonly spec: JsonMap }): unknown {
  return mapOf(mapOf(spec.resources).requests).storage;
}

/** What is mounted at the data path: a claim, a kind of volume, or nothing. */
function dataKind(template: PodTemplate, claims: readonly ClaimTemplate[], container: string): string {
  const nacos = template.spec.containers.find(({ name }) => name === container);
  const mount = nacos?.volumeMounts?.find((item) => mountPoint(item) === DATA_PATH);
  if (mount === undefined) return "none";
  if (claims.some(({ metadata }) => metadata.name === mount.name)) return "claim";
  const volume: JsonMap = itemsOf(template.spec.volumes).find(({ name }) => name === mount.name) ?? {};
  // A mount without a volume is a claim under another name.
  return Object.keys(volume).find((field) => field !== "name") ?? "claim";
}

function unsupported(what: string, from: unknown, to: unknown): ClaimChange {
  const text = (value: unknown): string =>
    typeof value === "string" ? value : (JSON.stringify(value) ?? "none");
  return { change: "unsupported", what, from: text(from), to: text(to) };
}
