/** Bodies as Nacos 2.4 and 3.0 write them. */
import type { MemberState, NacosBehaviour, NacosMember } from "./types.ts";

/** Raft groups of a node that serves naming and configuration, in the order of Nacos' answers. */
export const RAFT_GROUPS: readonly string[] = [
  "naming_instance_metadata",
  "naming_persistent_service",
  "naming_persistent_service_v2",
  "naming_service_metadata",
];

/** JRaft listens a thousand below the HTTP port. */
const RAFT_PORT_OFFSET = 1000;

export interface ClusterView {
  readonly members: readonly NacosMember[];
  readonly port: number;
  readonly behaviour: NacosBehaviour;
}

/** Announced host of a member. */
export function hostOf(member: NacosMember): string {
  return member.host ?? member.ip;
}

/** The member list as one member sees it. `code` is 200 in version 1 of the API and 0 later. */
export function memberList(view: ClusterView, asked: NacosMember, code: 0 | 200): string {
  const data = view.members.map((member) => memberEntry(view, member, asked));
  const message = code === 0 ? "success" : null;
  return JSON.stringify({ code, message, data });
}

function memberEntry(
  { members, port, behaviour }: ClusterView,
  member: NacosMember,
  asked: NacosMember,
): object {
  const { states, versions, version, raftGroups } = behaviour;
  const host = hostOf(member);
  const raftPort = port - RAFT_PORT_OFFSET;
  const leader = leaderFor(behaviour, members, asked);
  const raftGroupMember = members.map((other) => `${hostOf(other)}:${raftPort}`);
  const group = { leader: `${leader}:${raftPort}`, raftGroupMember, term: 1 };
  const metaDataMap = leader === null ? {} : Object.fromEntries(raftGroups.map((name) => [name, group]));
  const state: MemberState = states[member.ip] ?? "UP";
  return {
    ip: host,
    port,
    state,
    extendInfo: {
      lastRefreshTime: Date.now(),
      raftMetaData: { metaDataMap },
      raftPort: String(raftPort),
      readyToUpgrade: true,
      supportGrayModel: true,
      version: versions[member.ip] ?? version,
    },
    address: `${host}:${port}`,
    failAccessCnt: state === "UP" ? 0 : 6,
    abilities: {
      remoteAbility: { supportRemoteConnection: true, grpcReportEnabled: true },
      configAbility: { supportRemoteMetrics: false },
      namingAbility: { supportJraft: true },
    },
    grpcReportEnabled: true,
  };
}

function leaderFor(
  { leader, leaders }: NacosBehaviour,
  members: readonly NacosMember[],
  asked: NacosMember,
): string | null {
  const own = leaders[asked.ip];
  if (own !== undefined) return own;
  if (leader !== undefined) return leader;
  return members[0] === undefined ? null : hostOf(members[0]);
}

/** Refusal of a request without a login. */
export function forbidden(path: string): string {
  return JSON.stringify({
    timestamp: new Date().toISOString(),
    status: 403,
    error: "Forbidden",
    message: "user not found!",
    path,
  });
}

/** Refusal of a path that is not served. */
export function notFound(path: string): string {
  return JSON.stringify({ timestamp: new Date().toISOString(), status: 404, error: "Not Found", path });
}

/** Refusal of the older API by Nacos 3. */
export function gone(): string {
  const message =
    "Current API will be deprecated, If you want continue to use, set `nacos.core.api.compatibility`";
  return JSON.stringify({ code: 410, message, data: null });
}
