/** Judges a cluster by what its nodes answered. */
import type { NacosType } from "../desired/settings.ts";
import { hostOf, leadersNamed, type Member } from "./member-list.ts";
import { type NodeFacts, quorumOf } from "./node-facts.ts";

/** Answer of one ready node to the question for its member list. */
export type NodeAnswer =
  | { readonly state: "members"; readonly members: readonly Member[] }
  /** The node wants to know who is asking. */
  | { readonly state: "unauthorized"; readonly status: number }
  /** No usable answer; the message holds nothing of the body. */
  | ({ readonly state: "failed" } & Fault);

/** What is wrong with a node or a cluster. */
export interface Fault {
  /** One word. */
  readonly reason: string;
  readonly message: string;
}

/** Entry of `status.conditions`. */
export interface NodeCondition {
  readonly type: "leader" | "follower" | "unknown";
  readonly status: "true" | "false";
  readonly reason?: string;
  readonly message?: string;
  readonly instance: string;
  readonly hostIP: string;
  readonly podName: string;
  readonly nodeName: string;
}

/** Codes of failed checks: too few ready pods, or Nacos itself. */
export const TOO_FEW_READY = -1;
export const NACOS_FAILURE = 401;

/** Result of a check. */
export type Health =
  | {
      readonly state: "passed";
      readonly nodes: readonly NodeCondition[];
      /** Why the nodes could not be looked into, if so. */
      readonly unverified?: Fault;
      /** Number of nodes by version; empty when unknown. */
      readonly versions: ReadonlyMap<string, number>;
      /** Version of the node with the lowest ordinal. */
      readonly version?: string;
    }
  | ({
      readonly state: "failed";
      readonly code: typeof TOO_FEW_READY | typeof NACOS_FAILURE;
      readonly nodes: readonly NodeCondition[];
    } & Fault);

export interface Cluster {
  readonly name: string;
  readonly type: NacosType;
  readonly replicas: number;
  /** Living pods by ordinal. */
  readonly nodes: readonly NodeFacts[];
}

/** The failure of having too few ready pods; `undefined` when there are enough. */
export function quorumFailure({ replicas, nodes }: Cluster): Health | undefined {
  const ready = nodes.filter((node) => node.ready).length;
  const needed = quorumOf(replicas);
  if (ready >= needed) return undefined;
  const message = `ready pods too few: ${ready} ready, ${needed} needed`;
  return { state: "failed", code: TOO_FEW_READY, reason: "TooFewReady", message, nodes: [] };
}

/** Result for nodes that are not asked. */
export function unverified(cluster: Cluster, reason: string, message: string): Health {
  return {
    state: "passed",
    nodes: everyNode(cluster, () => "unknown"),
    unverified: { reason, message },
    versions: new Map(),
  };
}

/** Judges the answers of all ready nodes, by pod name. */
export function evaluate(cluster: Cluster, answers: ReadonlyMap<string, NodeAnswer>): Health {
  const ready = cluster.nodes.filter((node) => node.ready);
  const all = [...answers.values()];
  const allReady = ready.length === cluster.replicas;
  if (allReady && all.length > 0 && all.every((answer) => answer.state === "unauthorized")) {
    return unverified(cluster, "AuthRequired", "the nodes ask for a login: set identitySecretRef");
  }
  const fault = firstFault(cluster, answers);
  if (fault !== undefined) return fault;
  const members = all.flatMap((answer) => (answer.state === "members" ? answer.members : []));
  const [leader, ...others] = leadersNamed(members).sort();
  if (others.length === 0) return success(cluster, answers, leader);
  const message = `leader not equal: ${[leader, ...others].join(", ")}`;
  const unequal = { reason: "LeaderNotEqual", message };
  return failure(
    unequal,
    everyNode(cluster, () => "unknown", unequal),
  );
}

function success(
  cluster: Cluster,
  answers: ReadonlyMap<string, NodeAnswer>,
  leader: string | undefined,
): Health {
  const leading = cluster.nodes.find((node) => leader !== undefined && isAt(node, leader, cluster.nodes));
  const alone = cluster.type === "standalone";
  const nodes = everyNode(cluster, (podName) =>
    podName === leading?.podName || (alone && leader === undefined) ? "leader" : "follower",
  );
  const known = alone || leader !== undefined;
  const version = lowestVersion(cluster, answers);
  return {
    state: "passed",
    nodes,
    ...(known ? {} : { unverified: { reason: "NoLeaderInfo", message: "no node names a leader" } }),
    versions: versionsOf(answers),
    ...(version && { version }),
  };
}

/** The first node, by ordinal, whose answer tells of a fault. */
function firstFault(cluster: Cluster, answers: ReadonlyMap<string, NodeAnswer>): Health | undefined {
  const asked = cluster.nodes.flatMap((node) => {
    const answer = answers.get(node.podName);
    return answer === undefined ? [] : [{ node, fault: faultOf(cluster, answer) }];
  });
  const first = asked.find(({ fault }) => fault !== undefined);
  if (first?.fault === undefined) return undefined;
  const { reason, message } = first.fault;
  const nodes = asked.map(({ node, fault }) => condition(node, "unknown", fault));
  return failure({ reason, message: `${first.node.podName}: ${message}` }, nodes);
}

function faultOf({ replicas }: Cluster, answer: NodeAnswer): Fault | undefined {
  if (answer.state === "failed") return answer;
  if (answer.state === "unauthorized") {
    return { reason: "Unauthorized", message: `HTTP status ${answer.status}` };
  }
  const { members } = answer;
  if (members.length !== replicas) {
    const message = `server num is not equal: got ${members.length}, want ${replicas}`;
    return { reason: "MemberCount", message };
  }
  const down = members.find(({ state }) => state !== "UP");
  if (down === undefined) return undefined;
  return { reason: "NodeNotUp", message: `node is not up: ${down.address} is ${down.state || "unknown"}` };
}

function failure(fault: Fault, nodes: readonly NodeCondition[]): Health {
  return { state: "failed", code: NACOS_FAILURE, ...fault, nodes };
}

/** True when the address names this node: by pod name, by a DNS name of the pod, or by an IP that no other pod has. */
function isAt(node: NodeFacts, address: string, nodes: readonly NodeFacts[]): boolean {
  const host = hostOf(address);
  if (host === node.podName || host.startsWith(`${node.podName}.`)) return true;
  return host === node.podIP && nodes.filter(({ podIP }) => podIP === host).length === 1;
}

/** One entry for each ordinal, pods that are missing included. */
function everyNode(
  { name, replicas, nodes }: Cluster,
  typeOf: (podName: string) => NodeCondition["type"],
  fault?: Fault,
): NodeCondition[] {
  return Array.from({ length: replicas }, (_, ordinal) => {
    const podName = `${name}-${ordinal}`;
    const found = nodes.find((node) => node.ordinal === ordinal);
    const node = found ?? { ordinal, podName, podIP: "", hostIP: "", nodeName: "", ready: false };
    return condition(node, typeOf(node.podName), fault);
  });
}

function condition(
  { podName, podIP, hostIP, nodeName }: NodeFacts,
  type: NodeCondition["type"],
  fault: Fault | undefined,
): NodeCondition {
  return {
    type,
    status: fault === undefined ? "true" : "false",
    ...(fault && { reason: fault.reason, message: fault.message }),
    instance: podIP,
    hostIP,
    podName,
    nodeName,
  };
}

function versionsOf(answers: ReadonlyMap<string, NodeAnswer>): Map<string, number> {
  const counts = new Map<string, number>();
  const [first] = [...answers.values()].filter((answer) => answer.state === "members");
  for (const { version } of first?.members ?? []) {
    if (version !== "") counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return counts;
}

function lowestVersion(cluster: Cluster, answers: ReadonlyMap<string, NodeAnswer>): string | undefined {
  for (const node of cluster.nodes) {
    const answer = answers.get(node.podName);
    if (answer?.state !== "members") continue;
    const own = answer.members.find(({ address }) => isAt(node, address, cluster.nodes));
    const version = own?.version || answer.members.find((member) => member.version !== "")?.version;
    if (version) return version;
  }
  return undefined;
}
