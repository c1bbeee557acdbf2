/** Reads the member list that a Nacos node answers. */
import { isMap, itemsOf, mapOf } from "@quartet/pod-template";

/** Raft groups whose leader counts as the cluster's, most telling first. */
const LEADER_GROUPS = [
  "naming_persistent_service_v2",
  "naming_instance_metadata",
  "naming_service_metadata",
  "nacos_config",
  "naming_persistent_service",
];
/** Result codes of success: 200 in version 1 of the API, 0 later. */
const SUCCESS_CODES: readonly unknown[] = [0, 200];

/** A member as one node sees it. */
export interface Member {
  /** `host:port`; the host is an IP address or a DNS name. */
  readonly address: string;
  /** UP, DOWN, SUSPICIOUS, STARTING, ISOLATION. */
  readonly state: string;
  readonly version: string;
  /** Leader by Raft group, as `host:port`. */
  readonly leaders: Readonly<Record<string, string>>;
}

/** Members that an answer may list: twice as many as a cluster may have nodes, for those that have gone. */
const MAX_MEMBERS = 2_000;
/** Longest text of an answer that is kept, in characters: a DNS name with a port is shorter. */
const MAX_TEXT_LENGTH = 300;

/** Members in the answer's body; `undefined` when it is no member list, or too long for one. */
export function parseMembers(body: string): Member[] | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isMap(answer) || !SUCCESS_CODES.includes(answer.code) || !Array.isArray(answer.data)) return undefined;
  if (answer.data.length > MAX_MEMBERS) return undefined;
  return itemsOf(answer.data).map((member) => {
    const extended = mapOf(member.extendInfo);
    return {
      address: text(member.address) || `${text(member.ip)}:${text(member.port)}`,
      state: text(member.state),
      version: text(extended.version),
      leaders: leadersOf(mapOf(mapOf(extended.raftMetaData).metaDataMap)),
    };
  });
}

function leadersOf(groups: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = LEADER_GROUPS.map((group) => [group, text(mapOf(groups[group]).leader)] as const);
  return Object.fromEntries(entries.filter(([, leader]) => leader !== ""));
}

/**
 * Distinct leaders that the members name, of the most telling group that any of them knows a leader of. None when no
 * member takes part in a Raft group.
 */
export function leadersNamed(members: readonly Member[]): string[] {
  const group = LEADER_GROUPS.find((name) => members.some(({ leaders }) => leaders[name] !== undefined));
  if (group === undefined) return [];
  return [...new Set(members.flatMap(({ leaders }) => leaders[group] ?? []))];
}

/** Host part of `host:port`, without the brackets of an IPv6 address. */
export function hostOf(address: string): string {
  const host = address.replace(/:\d+$/, "");
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** A text that is too long is none. */
function text(value: unknown): string {
  const found = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return found.length > MAX_TEXT_LENGTH ? "" : found;
}
