/** What Linux says of a process. */
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in /proc/<pid>/stat: fixed at 100 for programs on Linux. */
const TICKS_PER_SECOND = 100;
const KIB_PER_MIB = 1024;

/** CPU seconds, user and system, in the text of /proc/<pid>/stat. */
export function cpuSecondsOf(stat: string): number {
  // The command in parentheses may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory, MiB, in the text of /proc/<pid>/status. */
export function residentMibOf(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / KIB_PER_MIB;
}

export function cpuSeconds(pid: number): number {
  return cpuSecondsOf(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

export function residentMib(pid: number): number {
  return residentMibOf(readFileSync(`/proc/${pid}/status`, "utf8"));
}

/** Number of open files, sockets included. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
