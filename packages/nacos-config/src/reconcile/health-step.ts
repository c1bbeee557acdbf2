/** Asks the nodes whether they form a healthy installation. */
import type { DeepReadonly } from "@quartet/core";
import type { StatefulSet } from "@quartet/core/kinds";
import type { ReadyConfig } from "../desired/config.ts";
import { canonicalJson } from "../desired/digest.ts";
import { type Notice, warning } from "../desired/notice.ts";
import { CLIENT_PORT } from "../desired/ports.ts";
import { checkCluster, knownVersion } from "../health/check.ts";
import { endpointOf, literalEnv } from "../health/endpoint.ts";
import { type Health, quorumFailure, unverified } from "../health/evaluate.ts";
import type { NodeFacts } from "../health/node-facts.ts";
import type { Pass } from "./pass.ts";
import { findIdentity } from "./references.ts";

/**
 * Checks the nodes; `undefined` when there is nothing to check, "pending" when they take long: the resource is queued
 * again with their answers.
 * @param properties effective properties of the merged configuration
 */
export async function healthStep(
  pass: Pass,
  statefulSet: DeepReadonly<StatefulSet>,
  nodes: readonly NodeFacts[],
  properties: ReadonlyMap<string, string>,
): Promise<Health | "pending" | undefined> {
  const { settings, resource, memory, key, nodeWatch, nodeAccess } = pass;
  nodeWatch.forget(key);
  const replicas = statefulSet.spec.replicas ?? 1;
  if (replicas === 0) return undefined;
  const cluster = { name: settings.name, type: settings.type, replicas, nodes };
  if (pass.skipNodeCheck) {
    return (
      quorumFailure(cluster) ??
      unverified(cluster, "CheckSkipped", "the nodes are not asked: --nacos-skip-node-check")
    );
  }
  const identity = findIdentity(pass);
  noteIdentity(pass, identity !== undefined);
  const endpoint = endpointOf(properties, literalEnv(statefulSet));
  const version = knownVersion(resource.status?.version, settings.version);
  const ready = nodes.filter((node) => node.ready);
  const question = canonicalJson([replicas, ready, endpoint, identity !== undefined]);
  // It may be kept until the next pass: it must not hold this one.
  const ask = (signal: AbortSignal): ReturnType<typeof checkCluster> => {
    const remembered = memory.variant;
    return checkCluster(cluster, { ...nodeAccess, endpoint, identity, remembered, version, signal });
  };
  const answer = await pass.probes.probe(key, { topic: "health", fingerprint: question, work: ask });
  if (answer.state === "pending") return "pending";
  if (answer.state === "failed") throw answer.error;
  const { health, variant } = answer.value;
  if (variant !== undefined) memory.variant = variant;
  // What fails is looked at again by passes.
  if (health.state === "passed") nodeWatch.follow(key, health, async (signal) => (await ask(signal)).health);
  return health;
}

/** Warns when the Secret of the identity header cannot be used, once until it can. */
function noteIdentity({ settings, memory, notices }: Pass, available: boolean): void {
  const { identitySecretRef: ref } = settings.spec;
  if (!ref?.name || available) {
    delete memory.identityMissing;
    return;
  }
  if (memory.identityMissing === true) return;
  memory.identityMissing = true;
  const note = `identitySecretRef: Secret ${ref.name} or one of its keys cannot be used; the nodes are asked without it`;
  notices.push(warning("IdentityUnavailable", note));
}

/** Warns of a port that Services and the member list do not know; the number is not told when it may be secret. */
export function portNotice({
  effective,
  secret,
}: Pick<ReadyConfig, "effective" | "secret">): Notice | undefined {
  const { port } = endpointOf(effective, new Map());
  if (port === CLIENT_PORT.port) return undefined;
  const set = secret ? "another port" : `port ${port}`;
  const note = `the properties set ${set}; Services and member addresses stay at ${CLIENT_PORT.port}`;
  return warning("NonDefaultPort", note);
}
