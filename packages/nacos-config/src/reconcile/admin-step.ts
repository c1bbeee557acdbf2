/** Keeps the administrator of a Secret in Nacos's tables, over the operator's own connection to PostgreSQL. */
import { seconds } from "@quartet/core";
import { type AdminFindings, inspectAdmins, rotateAdmin } from "../database/rotate.ts";
import { type DatabaseProblem, isDatabaseProblem } from "../database/target.ts";
import {
  type AdminCredentials,
  type AdminStatus,
  adminCredentials,
  hasAdmin,
  isRotationDue,
  targetChecksum,
} from "../desired/admin.ts";
import { DEFAULT_TOKEN_EXPIRE_SECONDS } from "../desired/nacos-env.ts";
import { normal, warning } from "../desired/notice.ts";
import { conditionState } from "../status/conditions.ts";
import { askDatabase, databaseFingerprint, repeatStanding, standingCondition } from "./database-work.ts";
import type { Pass } from "./pass.ts";
import { findSecret } from "./references.ts";

const CONDITION = "AdminReady";
const DEFAULT_PASSWORD_REASON = "DefaultAdminPassword";
/** Nacos reads its users anew so often, in seconds (5 of the rule book). */
const USER_CACHE_SECONDS = 15;
/** While the default password stands, the table is looked at again so often at most, in milliseconds. */
const RECHECK_MS = 60_000;

export interface AdminOptions {
  /** False for a pass that must not change anything. */
  readonly writes: boolean;
  /** The database has not answered yet whether it has its tables. */
  readonly waiting: boolean;
}

/** Rotates the administrator when that is due. At rest no connection is opened. */
export async function adminStep(pass: Pass, { writes, waiting }: AdminOptions): Promise<void> {
  const { settings, resource, memory } = pass;
  const { spec } = settings;
  if (!hasAdmin(spec)) return;
  const recorded = memory.admin?.status ?? resource.status?.admin;
  if (recorded !== undefined) pass.stepStatus.admin = recorded;
  if (!writes) return repeatStanding(pass, CONDITION, DEFAULT_PASSWORD_REASON);
  const found = findSecret(pass, spec.adminCredentialsSecretRef?.name ?? "");
  const credentials = adminCredentials(spec, found);
  if (isDatabaseProblem(credentials)) return fail(pass, credentials);
  const due = isRotationDue(spec, recorded, credentials);
  if (!due && !isCheckDue(pass)) return reportRest(pass, hasDefault(pass));
  if (waiting) return wait(pass, recorded, "WaitingForDatabase", "see condition DatabaseReady");
  const reply = await askDatabase(pass, {
    topic: "admin",
    fingerprint: JSON.stringify([databaseFingerprint(pass), credentials.checksum, due]),
    work: (database) =>
      due ? rotateAdmin(database, credentials) : inspectAdmins(database, credentials.username),
  });
  if (reply.state === "pending") {
    return wait(pass, recorded, "Connecting", "the database has not answered yet");
  }
  if (reply.state === "ok") return succeed(pass, recorded, credentials, reply.value, due);
  if (!due) return reportRest(pass, true);
  const status = { ...recorded, lastResult: "Failed", lastMessage: reply.problem.message };
  memory.admin = { ...memory.admin, status };
  pass.stepStatus.admin = status;
  fail(pass, reply.problem);
}

/** There is no answer yet: the failure of the last try stands, and so does what the tables were found to hold. */
function wait(pass: Pass, recorded: AdminStatus | undefined, reason: string, message: string): void {
  const standing = standingCondition(pass, CONDITION);
  const failed = recorded?.lastResult === "Failed" && recorded.lastMessage === standing?.message;
  const stands =
    standing !== undefined &&
    (standing.status !== "False" || standing.reason === DEFAULT_PASSWORD_REASON || failed);
  if (stands) repeatStanding(pass, CONDITION, DEFAULT_PASSWORD_REASON);
  else pass.reports.push(conditionState(CONDITION, "Unknown", reason, message));
}

/** @param due the administrator was written; else the table was only looked at */
function succeed(
  pass: Pass,
  recorded: AdminStatus | undefined,
  credentials: AdminCredentials,
  findings: AdminFindings,
  due: boolean,
): void {
  const now = pass.clock.now();
  const rotated: AdminStatus = {
    lastRotateTime: seconds(now),
    lastResult: "Success",
    lastMessage: "",
    lastSecretResourceVersion: credentials.resourceVersion,
    lastSecretChecksum: targetChecksum(pass.settings.spec, credentials),
  };
  const status = due ? rotated : recorded;
  pass.memory.admin = { findings, checkedAt: now, status };
  if (status !== undefined) pass.stepStatus.admin = status;
  if (due) tellRotation(pass, credentials, findings);
  reportRest(pass, findings.defaultPassword);
}

function tellRotation(
  { settings, notices }: Pass,
  { weak }: AdminCredentials,
  { otherAdmins }: AdminFindings,
): void {
  const { adminCredentialsSecretRef, certification } = settings.spec;
  const secret = `Secret ${adminCredentialsSecretRef?.name}`;
  const expiry = certification?.token_expire_seconds || DEFAULT_TOKEN_EXPIRE_SECONDS;
  const note = `the administrator of ${secret} is in place; an old password works for up to ${USER_CACHE_SECONDS} s more, an issued token until it expires (after ${expiry} s)`;
  notices.push(normal("AdminRotated", note));
  if (weak) notices.push(warning("WeakPasswordHash", `${secret}: the cost of the bcrypt hash is below 10`));
  if (otherAdmins > 0) {
    const others = otherAdmins === 1 ? "1 other user keeps" : `${otherAdmins} other users keep`;
    const advice = "a user of a former name is never removed; do so in Nacos if it is no longer wanted";
    notices.push(warning("OtherAdminsRemain", `${others} the role of an administrator: ${advice}`));
  }
}

/** True while the default password stands and nobody has looked for some time. */
function isCheckDue(pass: Pass): boolean {
  const { checkedAt } = pass.memory.admin ?? {};
  if (checkedAt !== undefined && pass.clock.now() - checkedAt < RECHECK_MS) return false;
  return hasDefault(pass);
}

/** True when the default password was found when the table was last looked at, by this process or an earlier one. */
function hasDefault(pass: Pass): boolean {
  const { findings } = pass.memory.admin ?? {};
  return findings?.defaultPassword ?? standingCondition(pass, CONDITION)?.reason === DEFAULT_PASSWORD_REASON;
}

/** Reports on a resource whose administrator is in place. */
function reportRest({ reports }: Pass, defaultPassword: boolean): void {
  const finding = 'user "nacos" has the publicly known password: change it or remove the user in Nacos';
  reports.push(
    defaultPassword
      ? conditionState(CONDITION, "False", DEFAULT_PASSWORD_REASON, finding)
      : conditionState(CONDITION, "True", "Rotated", "the administrator of the Secret is in place"),
  );
}

function fail({ failures }: Pass, problem: DatabaseProblem): void {
  failures.push({ ...problem, condition: CONDITION });
}
