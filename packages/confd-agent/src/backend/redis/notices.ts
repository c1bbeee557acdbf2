/** Whether a Redis server tells of changed keys, and what to do where it does not. */
import type { Redis } from "ioredis";
import type { BackendSettings } from "../../config/settings.ts";
import { messageOf } from "../../errors.ts";
import type { WatchEvents } from "../backend.ts";
import { isReply } from "./read.ts";

const SETTING = "notify-keyspace-events";
/** Flags of the events that matter: those of all kinds of commands, expiry and eviction. */
const NEEDED = "g$hxe";
/** Longest pause between two reads where the server does not tell, in milliseconds. */
const MAX_POLL_MS = 10_000;

/** Looks at the setting, and changes it where that is allowed; the pause between reads that are needed, if so. */
export async function prepareNotices(
  redis: Redis,
  { redisConfigureNotifications, interval }: BackendSettings,
  notice: WatchEvents["onNotice"],
): Promise<number | undefined> {
  const poll = Math.min(interval, MAX_POLL_MS);
  let flags: string;
  try {
    const answer = (await redis.config("GET", SETTING)) as string[];
    flags = answer[1] ?? "";
  } catch (error) {
    notice(
      "warn",
      `redis: cannot ask for ${SETTING} (${messageOf(error)}): reading every ${poll / 1000}s as well`,
    );
    return poll;
  }
  const wanted = missingFlags(flags);
  if (wanted === "") return undefined;
  const setting = `${flags}${wanted}`;
  if (redisConfigureNotifications) {
    try {
      await redis.config("SET", SETTING, setting);
      notice("info", `redis: ${SETTING} set to ${setting}`);
      return undefined;
    } catch (error) {
      notice("warn", `redis: cannot set ${SETTING}: ${messageOf(error)}`);
    }
  }
  notice(
    "error",
    `redis: the server does not tell of changes: set ${SETTING} to ${setting} there, or start with -redis-configure-notifications; reading every ${poll / 1000}s until then`,
  );
  return poll;
}

/** What INFO tells of: the server, whose data it has, and commands that change all keys without a notice of any. */
const UNTOLD = /^(?:run_id|role|master_replid|cmdstat_(?:flushdb|flushall|swapdb)):(?:calls=\d+|.*)/gm;

/** A text that is another one when all keys may have changed without a notice; nothing where that is not told. */
export async function untoldChanges(redis: Redis): Promise<string | undefined> {
  try {
    const sections = await Promise.all(
      ["server", "replication", "commandstats"].map((section) => redis.info(section)),
    );
    return (sections.join("\n").match(UNTOLD) ?? []).join("\n");
  } catch (error) {
    if (isReply(error)) return undefined;
    throw error;
  }
}

/** Flags that are missing for notices of all changes. */
function missingFlags(flags: string): string {
  const kinds = flags.includes("A") ? "" : [...NEEDED].filter((flag) => !flags.includes(flag)).join("");
  return `${flags.includes("K") ? "" : "K"}${kinds}`;
}
