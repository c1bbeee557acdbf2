/** A simulated Nacos installation: what it is made of. */

/** State of a member as its peers see it. */
export type MemberState = "UP" | "DOWN" | "SUSPICIOUS" | "STARTING" | "ISOLATION";

/** One node. */
export interface NacosMember {
  /** Address that its server listens on. */
  readonly ip: string;
  /** Host that it announces to its peers; default: the address. In Kubernetes a DNS name that begins with the pod's. */
  readonly host?: string;
}

/** How the installation behaves. Everything can be changed while it runs. */
export interface NacosBehaviour {
  /** Version that the members report; its major number decides which API they serve. */
  version: string;
  /** Versions of single members by address. */
  versions: Record<string, string>;
  /** States of single members by address; all others are UP. */
  states: Record<string, MemberState>;
  /** Announced host of the Raft leader; `null` for none. Default: that of the first member. */
  leader?: string | null;
  /** What single members, by address, take for the leader: a split installation. */
  leaders: Record<string, string>;
  /** Raft groups that know a leader. */
  raftGroups: readonly string[];
  /** Whether the API asks for a login. */
  auth: boolean;
  /** Header that lets a request pass without a login. */
  identity?: { readonly name: string; readonly value: string };
  /** Addresses whose servers accept connections and never answer. */
  hung: Set<string>;
  /** Wait before each answer, in milliseconds. */
  delayMs: number;
  /** Version 3 alone: the older API answers as well (`nacos.core.api.compatibility.console.enabled`). */
  compatible: boolean;
  /** Answers of its own for any path; `undefined` leaves it to the simulation. */
  override?: (request: { path: string; member: NacosMember }) => { status: number; body: string } | undefined;
}

/** A request that reached a node. */
export interface NacosRequest {
  /** Address of the node. */
  readonly member: string;
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly status: number;
  /** It carried the identity header. */
  readonly identified: boolean;
}
