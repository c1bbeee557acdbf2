/** Admission of the pods that OpenKruise creates (DSP-901 to 912). */
import { type Client, type DeepReadonly, isNotFound, type Kind, type KubeObject } from "@quartet/core";
import { NODE, POD, type Pod } from "@quartet/core/kinds";
import { type AdmissionContext, type Mutate, mutating, type Webhook } from "@quartet/core/webhook";
import { PatchError } from "../desired/effective-template.ts";
import { REVISION_LABEL } from "../desired/keys.ts";
import { pinnedNode } from "../desired/pod.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import type { PatchFailure } from "../reconcile/metrics.ts";
import { NODE_PROJECTION } from "../reconcile/projections.ts";
import { patchedPod } from "./patched-pod.ts";
import type { PatchesOf } from "./patches.ts";

/** What admission needs of the process. */
export interface PodAdmission {
  /** False while another one than OpenKruise may own the DaemonSets: pods are left as they are. */
  isCompanion(): boolean;
  readonly patchesOf: PatchesOf;
  applied(daemonSet: DeepReadonly<DaemonSet>, patches: number): void;
  /** A pod was matched and patched in so many milliseconds. */
  duration(ms: number): void;
  /** Milliseconds of a clock that only goes forward. */
  monotonic(): number;
  failed(daemonSet: DeepReadonly<DaemonSet>, reason: PatchFailure, message: string): void;
}

const OWNED =
  "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && o.kind == 'DaemonSet' && o.apiVersion.startsWith('apps.kruise.io/'))";

/** @param when the hook exists */
export function podWebhook(
  when: NonNullable<Webhook["when"]>,
  admissionOf: (manager: Parameters<Webhook["handler"]>[0]) => PodAdmission | undefined,
): Webhook {
  return mutating<Pod>({
    when,
    kind: POD,
    operations: ["CREATE"],
    path: "/mutate-daemonset-pod-patches",
    name: "daemonset-pod-patches.kruise.io",
    failurePolicy: "Ignore",
    timeoutSeconds: 5,
    objectSelector: { matchExpressions: [{ key: REVISION_LABEL, operator: "Exists" }] },
    matchConditions: [{ name: "of-a-daemonset", expression: OWNED }],
    reads: [
      { kind: DAEMON_SET as unknown as Kind },
      { kind: NODE as unknown as Kind, options: { projection: NODE_PROJECTION as never } },
    ],
    handler(manager) {
      const admission = admissionOf(manager);
      return (pod, ctx) => (admission?.isCompanion() === true ? admitted(pod, ctx, admission) : pod);
    },
  });
}

async function admitted(
  pod: Pod,
  ctx: Pick<AdmissionContext<Pod>, "cache" | "client" | "request" | "warn">,
  admission: PodAdmission,
): Promise<Awaited<ReturnType<Mutate<Pod>>>> {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== "DaemonSet" || !owner.apiVersion.startsWith("apps.kruise.io/")) return pod;
  // The namespace of the request counts: that of the body may be missing or wrong.
  const key = { namespace: ctx.request.namespace ?? "", name: owner.name };
  const daemonSet = await found(ctx, DAEMON_SET, key, owner.uid);
  if (daemonSet === undefined || daemonSet.metadata.uid !== owner.uid) return pod;
  const { patchSet, patches } = admission.patchesOf(daemonSet);
  if (patches.length === 0) return pod;
  const name = pinnedNode(pod.spec);
  if (name === undefined) {
    admission.failed(daemonSet, "node_unresolved", "the pod names no single node");
    return pod;
  }
  const node = await found(ctx, NODE, { namespace: "", name });
  if (node === undefined) {
    admission.failed(daemonSet, "node_not_found", `there is no node ${name}`);
    return pod;
  }
  const start = admission.monotonic();
  const match = patchSet.match(patchSet.maskOf(node.metadata.labels ?? {}));
  try {
    const result = patchedPod(pod, match, patchSet.listHash);
    if (result !== pod) {
      admission.duration(admission.monotonic() - start);
      admission.applied(daemonSet, match.indexes.length);
    }
    return result;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    ctx.warn(`patches were not applied: ${error.message}`);
    admission.failed(daemonSet, error.reason, error.message);
    return pod;
  }
}

/**
 * From the cache, else by one live read.
 * @param uid of the object that is looked for; the cache may still hold one that was there before under its name
 */
async function found<T extends KubeObject>(
  { cache, client }: { cache: Pick<AdmissionContext["cache"], "get">; client: Pick<Client, "get"> },
  kind: Kind<T>,
  key: { namespace: string; name: string },
  uid?: string,
): Promise<DeepReadonly<T> | undefined> {
  const cached = await cache.get(kind, key);
  if (cached !== undefined && (uid === undefined || cached.metadata.uid === uid)) return cached;
  try {
    return (await client.get(kind, key)) as DeepReadonly<T>;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
