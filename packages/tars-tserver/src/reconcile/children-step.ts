/** Service, workload, TEndpoint and TExitedRecord of a server. */
import {
  type DeepReadonly,
  isNamespaceTerminating,
  isNotFound,
  type Kind,
  type KubeObject,
  keyOf,
  keyToString,
  messageOf,
  type Source,
} from "@quartet/core";
import { desiredEndpoint, desiredExitedRecord, syncEndpoint } from "../desired/endpoint.ts";
import type { ClaimTemplate, ContainerPort, StatefulSet } from "../desired/k8s.ts";
import { containerPorts } from "../desired/ports.ts";
import {
  compareClaims,
  type Step,
  syncDaemonSet,
  syncService,
  syncStatefulSet,
  type Tolerance,
} from "../desired/sync.ts";
import type { TemplateInput } from "../desired/template.ts";
import { localLabels } from "../desired/volumes.ts";
import { desiredDaemonSet, desiredService, desiredStatefulSet } from "../desired/workloads.ts";
import { CLAIM, DAEMON_SET, SERVICE, STATEFUL_SET, T_ENDPOINT, T_EXITED_RECORD } from "../kinds.ts";
import { LOCAL_VOLUME_LABEL } from "../labels.ts";
import { type ChildOptions, type ChildOutcome, ensureChild, relationOf, removeChild } from "./child.ts";
import type { Pass } from "./pass.ts";

/** Wait for an object that is going, ms. */
export const GOING_MS = 1_000;
/** How long it holds that the API server would take a StatefulSet, ms. Source: the longest pause between two tries. */
const TRIED_OUT_MS = 60_000;

/** Brings all children to what is wanted; true when one of them is still going. */
export async function syncChildren(pass: Pass): Promise<boolean> {
  if (pass.memory.endsWithNamespace === pass.server.metadata.uid) return false;
  const daemon = pass.model.k8s.daemonSet === true;
  const steps = [
    () => endpointStep(pass),
    () => recordStep(pass),
    ...(daemon
      ? [
          () => removeStep(pass, SERVICE, pass.informers.services),
          () => daemonSetStep(pass),
          () => removeStep(pass, STATEFUL_SET, pass.informers.statefulSets),
        ]
      : [
          () => serviceStep(pass),
          () => statefulSetStep(pass),
          () => removeStep(pass, DAEMON_SET, pass.informers.daemonSets),
        ]),
  ];
  const outcomes = await Promise.all(steps.map((step) => step()));
  return outcomes.some((outcome) => outcome?.state === "going");
}

/** Carries out one step; what goes wrong does not keep the others from their end. */
async function guarded<T extends KubeObject>(
  pass: Pass,
  kind: Kind<T>,
  informer: Source<T>,
  decide: (live: DeepReadonly<T> | undefined) => Step<T>,
  more: Partial<ChildOptions<T>> = {},
): Promise<ChildOutcome | undefined> {
  const { ctx, server } = pass;
  const key = keyOf(server);
  const what = `${kind.kind} ${keyToString(key)}`;
  try {
    const outcome = await ensureChild<T>(
      { client: ctx.client, signal: ctx.signal, kind, owner: server, cached: informer.get(key), ...more },
      decide,
    );
    if (outcome.state === "foreign") {
      pass.problems.push({
        what,
        foreign: true,
        error: new Error(`${what} is not this server's; rename or remove it`),
      });
    }
    return outcome;
  } catch (error) {
    // The server goes with its namespace, and its children before it: they are not asked for again.
    if (isNamespaceTerminating(error)) pass.memory.endsWithNamespace = server.metadata.uid;
    else pass.problems.push({ what, error });
    return undefined;
  }
}

function serviceStep(pass: Pass): Promise<ChildOutcome | undefined> {
  const wanted = desiredService(pass.model);
  return guarded(pass, SERVICE, pass.informers.services, (live) => syncService(wanted, live));
}

function endpointStep(pass: Pass): Promise<ChildOutcome | undefined> {
  const wanted = desiredEndpoint(pass.server);
  return guarded(pass, T_ENDPOINT, pass.informers.endpoints, (live) => syncEndpoint(wanted, live), {
    replacesForeign: true,
  });
}

function recordStep(pass: Pass): Promise<ChildOutcome | undefined> {
  const wanted = desiredExitedRecord(pass.server);
  return guarded(pass, T_EXITED_RECORD, pass.informers.records, (live) =>
    live === undefined ? { action: "create", object: wanted } : { action: "none" },
  );
}

function daemonSetStep(pass: Pass): Promise<ChildOutcome | undefined> {
  const wanted = desiredDaemonSet(pass.server, inputOf(pass));
  return guarded(pass, DAEMON_SET, pass.informers.daemonSets, (live) =>
    syncDaemonSet(wanted, live, toleranceOf(pass)),
  );
}

function statefulSetStep(pass: Pass): Promise<ChildOutcome | undefined> {
  const { ctx, server, informers } = pass;
  const wanted = desiredStatefulSet(server, inputOf(pass));
  return guarded(
    pass,
    STATEFUL_SET,
    informers.statefulSets,
    (live) => {
      if (live !== undefined && relationOf(live, server) === "ours") tellOfPolicy(pass, wanted, live);
      return syncStatefulSet(wanted, live, toleranceOf(pass));
    },
    {
      tryOut: (object) => tryOut(pass, object),
      beforeRecreate: (live) => removeLocalClaims(pass, wanted, live),
      onRecreate(because) {
        pass.memory.triedOut = undefined;
        ctx.events.record(server, {
          type: "Normal",
          reason: "StatefulSetRecreated",
          note: `StatefulSet ${pass.model.name} is made anew: ${because}`,
          distinct: because,
        });
      },
    },
  );
}

/** Asks whether the API server would take a StatefulSet; its answer holds for a while, should the deletion be refused. */
async function tryOut({ ctx, model, memory, clock }: Pass, object: StatefulSet): Promise<void> {
  const text = JSON.stringify(object.spec);
  const now = clock.monotonic();
  const { triedOut } = memory;
  if (triedOut?.text === text && now - triedOut.at < TRIED_OUT_MS) return;
  const { name: _name, ...metadata } = { ...object.metadata, generateName: `${model.name}-` };
  await ctx.client.create(STATEFUL_SET, { ...object, metadata }, { signal: ctx.signal, dryRun: true });
  memory.triedOut = { text, at: now };
}

/** The policy is fixed at creation (MAP-022). */
function tellOfPolicy(
  { memory, ctx, server }: Pass,
  wanted: StatefulSet,
  live: DeepReadonly<StatefulSet>,
): void {
  const { podManagementPolicy } = wanted.spec;
  const { podManagementPolicy: current = "OrderedReady" } = live.spec;
  const id = `ImmutableField ${podManagementPolicy}`;
  if (podManagementPolicy === current || memory.told.has(id)) return;
  memory.told.add(id);
  const note = `spec.k8s.podManagementPolicy ${podManagementPolicy} has no effect: the StatefulSet was created with ${current}`;
  ctx.events.record(server, { type: "Warning", reason: "ImmutableField", note, distinct: note });
}

/** Claims of local volumes go with their mount; claims of users stay. */
async function removeLocalClaims(
  pass: Pass,
  wanted: StatefulSet,
  live: DeepReadonly<StatefulSet>,
): Promise<void> {
  const before = live.spec.volumeClaimTemplates ?? [];
  const { removed } = compareClaims(wanted.spec.volumeClaimTemplates ?? [], before);
  const local = before.filter(
    ({ metadata: { name = "", labels } }: DeepReadonly<ClaimTemplate>) =>
      removed.includes(name) && labels?.[LOCAL_VOLUME_LABEL] === name,
  );
  for (const { metadata } of local) await removeClaims(pass, metadata.name ?? "");
}

async function removeClaims({ ctx, model, informers, memory: _memory }: Pass, mount: string): Promise<void> {
  const labels = localLabels(model, mount);
  for (const claim of informers.claims.list({ namespace: model.namespace, labels })) {
    const { uid } = claim.metadata;
    await ctx.client.deleteIfExists(CLAIM, keyOf(claim), {
      signal: ctx.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    });
  }
}

async function removeStep<T extends KubeObject>(
  pass: Pass,
  kind: Kind<T>,
  informer: Source<T>,
): Promise<undefined> {
  const { ctx, server } = pass;
  const owned = (object: DeepReadonly<T>): boolean => relationOf(object, server) !== "foreign";
  try {
    await removeChild(ctx.client, kind, informer.get(keyOf(server)), owned, ctx.signal);
  } catch (error) {
    if (!isNotFound(error)) pass.problems.push({ what: `${kind.kind} ${keyToString(keyOf(server))}`, error });
  }
  return undefined;
}

function inputOf({ framework, settings }: Pass): TemplateInput {
  const { portStyle, hostBindClaim } = settings;
  return { nodeImage: framework.nodeImage, portStyle, hostBindClaim };
}

function toleranceOf({ model }: Pass): Tolerance {
  const ports: readonly (readonly ContainerPort[])[] = [
    containerPorts(model, "seed"),
    containerPorts(model, "peer"),
  ];
  return { ports };
}

/** What kept the pass from its end, in words for a condition. */
export function describeProblems({ problems }: Pass): string {
  // Children are written side by side: in which order they fail must not make another text, and another write, of it.
  return [...problems]
    .sort((a, b) => (a.what < b.what ? -1 : Number(a.what > b.what)))
    .map(({ what, error, foreign }) => (foreign ? messageOf(error) : `${what}: ${messageOf(error)}`))
    .join("; ");
}
