/** Further parts of the core as the guide shows them. */
import {
  type ChildMemory,
  type Clock,
  type ControllerBuilder,
  childMetadata,
  childrenOf,
  createProbes,
  type Family,
  type Manager,
  mergedMetadata,
  type ObjectKey,
  type ReconcileContext,
} from "@quartet/core";
import { type PodTemplate, SERVICE, type StatefulSet } from "@quartet/core/kinds";
import { carryTemplate, templateDifference } from "@quartet/pod-template";
import { GREETING, type Greeting } from "./api.ts";

// #region children
const FAMILY: Family<Greeting> = {
  owner: GREETING,
  labels: ({ metadata }) => ({ app: metadata.name ?? "" }), // on every child
  adopts: (object, owner) => object.metadata.labels?.app === owner.metadata.name, // of those that nobody controls
};

export async function ensureService(
  ctx: ReconcileContext,
  greeting: Greeting,
  memory: ChildMemory,
  clock: Clock,
) {
  const name = `${greeting.metadata.name}-web`;
  const metadata = childMetadata(FAMILY, greeting, name);
  const spec = { clusterIP: "None", ports: [{ port: 80 }] };
  const children = childrenOf(ctx, { family: FAMILY, owner: greeting, memory, clock });
  return await children.ensure(
    { kind: SERVICE, name },
    {
      create: () => ({ apiVersion: "v1", kind: "Service", metadata, spec }),
      update: (live) => ({
        ...live,
        metadata: mergedMetadata(FAMILY, live.metadata, metadata),
        spec: { ...live.spec, ports: spec.ports },
      }),
    },
  );
}
// #endregion

// #region templates
export function nextTemplate(before: PodTemplate, after: PodTemplate, live: StatefulSet) {
  const path = templateDifference(after, live.spec.template); // "spec.containers.web.image", or undefined
  return path === undefined ? undefined : carryTemplate(before, after, live.spec.template);
}
// #endregion

// #region probes
export function askGuests(
  manager: Manager,
  builder: ControllerBuilder,
  guests: (signal: AbortSignal) => Promise<string[]>,
) {
  const probes = createProbes(manager.clock, "greeting-probes");
  builder.watchesRaw(probes.source);
  return (key: ObjectKey, generation: number) =>
    probes.probe(key, {
      topic: "guests", // one at a time for each object and topic
      fingerprint: String(generation),
      ttlMs: 30_000, // an answer holds so long
      retryFloorMs: 5_000, // a failed one so long
      work: guests,
    }); // `pending`: the answer queues the key
}
// #endregion
