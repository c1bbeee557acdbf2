/** One run of one resource, from its values to the file in place. Reloading is the wave's. */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment, Settings } from "../config/settings.ts";
import { codeOf, messageOf, RunError } from "../errors.ts";
import { type Current, digestOf, readCurrent, shownMode, targetOf } from "../files/compare.ts";
import { flushTime } from "../files/flush.ts";
import { replaceFile } from "../files/replace.ts";
import { signatureOf } from "../files/signature.ts";
import { type Attributes, removeLeftovers, type Stage, writeStage } from "../files/stage.ts";
import { isLogged, type Level } from "../observe/log.ts";
import type { Resource } from "../resource/resource.ts";
import { runCommand, shownOutput, shownProblem } from "./command.ts";
import { checkCommand } from "./command-text.ts";
import { formatProblem } from "./format.ts";
import type { Rendered, Renderer, RenderHost } from "./render.ts";
import { type SecretTexts, secretTextsOf } from "./secrets.ts";
import { sameValues, storeValues } from "./values.ts";

/** What is remembered of a resource between its runs. */
export interface ResourceMemory {
  /** Values of the last run that succeeded. */
  values?: ReadonlyMap<string, string>;
  /** What they were rendered to. */
  content?: Buffer;
  /** Encrypted values are in it. */
  decrypted: boolean;
  /** Files that the text was made of, or the error, with what they were then ({@link signatureOf}). */
  files: ReadonlyMap<string, string>;
  /** Mode and owner of a file that is written in place cannot be set: they do not count as a change. */
  attributesRefused: boolean;
  /** Problems that were told once. */
  told: Set<string>;
}

export interface RunContext {
  readonly resource: Resource;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly memory: ResourceMemory;
  readonly renderer: Renderer;
  readonly host: RenderHost;
  /** Values of the backend by logical key, with the prefix. */
  readonly values: ReadonlyMap<string, string>;
  readonly revision: number | undefined;
  /** Renders even when the values are those of the last run. */
  readonly always: boolean;
  /** Some of the values are secrets, and which are. */
  readonly secret: boolean;
  readonly isSecret: (key: string) => boolean;
  readonly secrets: SecretTexts;
  /** A new file with secrets is for its owner alone. */
  readonly keepsPrivate: boolean;
  readonly signal: AbortSignal;
  /** Whether another version of the resource has taken its place, or none. */
  readonly isRetired: () => boolean;
  /** Told when its files are in further folders. */
  readonly onFolders: () => void;
  readonly log: (level: Level, message: string) => void;
  /** Told of each command that ran. */
  readonly onCommand: (kind: "check" | "reload", status: number) => void;
  /** Told before the file is replaced. */
  readonly beforeReplace: () => void;
  /** Told of the old and the new text of a file that would change (noop). */
  readonly onDifference?: (secret: boolean, before: Buffer, after: Buffer) => void;
}

export type RunOutcome = "unchanged" | "written" | "noop";

/** Permission bits of new files, and of new files with secrets. */
const DEFAULT_MODE = 0o644;
const SECRET_MODE = 0o600;
const READABLE_BY_ALL = 0o004;

/** Runs the steps before the reload; rejects with the first one's failure, with the file untouched. */
export async function processResource(context: RunContext): Promise<RunOutcome> {
  const { resource, memory, values } = context;
  try {
    if (memory.content !== undefined && !context.always && sameValues(memory.values, values)) {
      return await putInPlace(context, memory.content);
    }
    const { content, decrypted, printed } = await render(context);
    memory.decrypted = decrypted;
    const isSecret = context.secret || decrypted;
    context.secrets.set(resource.dest, isSecret ? secretTextsOf(values, context.isSecret, printed) : []);
    const invalid = formatProblem(resource.outputFormat, content.toString("utf8"));
    if (invalid !== undefined) {
      const shown = isSecret ? "where is not shown, for values are secret" : invalid;
      throw new RunError(
        `output format validation failed (${resource.outputFormat}): ${shown}`,
        "when something changes",
      );
    }
    const outcome = await putInPlace(context, content);
    memory.values = values;
    memory.content = content;
    return outcome;
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw new RunError(`${resource.dest}: ${codeOf(error) ?? ""} ${messageOf(error)}`.trim(), "soon");
  }
}

/** Renders; what it was made of is remembered, also of a template that fails. */
async function render(context: RunContext): Promise<Rendered> {
  const { resource, memory, settings } = context;
  const before = memory.files;
  const files = new Map<string, string>();
  try {
    return await context.renderer.render({
      file: resource.template,
      templates: join(settings.confdir, "templates"),
      values: storeValues(resource, context.values, (message) => context.log("warn", message)),
      host: context.host,
      secret: context.secret,
      onFile: (file) => {
        if (!files.has(file)) files.set(file, signatureOf(file));
      },
    });
  } finally {
    memory.files = files;
    const own = dirname(resource.template);
    if ([...files.keys()].some((file) => !before.has(file) && dirname(file) !== own)) context.onFolders();
  }
}

async function putInPlace(context: RunContext, content: Buffer): Promise<RunOutcome> {
  const { resource, settings, memory, log } = context;
  const target = targetOf(resource.dest);
  const current = readCurrent(target);
  const secret = context.secret || memory.decrypted;
  const newMode = secret && context.keepsPrivate ? SECRET_MODE : DEFAULT_MODE;
  const mode = resource.mode ?? current?.mode ?? newMode;
  if (secret && resource.mode === undefined && (mode & READABLE_BY_ALL) !== 0) {
    tellOnce(
      context,
      "warn",
      `${resource.dest} holds secrets and is readable by all (mode ${shownMode(mode)}): say which mode it shall have, e.g. mode = "0600"`,
    );
  }
  const attributes: Attributes = { mode, uid: resource.uid, gid: resource.gid };
  const differences = differencesOf(current, content, attributes, memory);
  if (differences.length === 0) {
    if (settings.keepStageFile) keepCandidate(context, target, content, attributes);
    return "unchanged";
  }
  if (settings.noop) {
    context.onDifference?.(secret, current?.content ?? Buffer.alloc(0), content);
    log("warn", `Noop mode enabled. ${resource.dest} will not be modified`);
    if (settings.keepStageFile) keepCandidate(context, target, content, attributes);
    return "noop";
  }
  log("info", `Target config ${resource.dest} out of sync: ${differences.join(", ")}`);
  ensureFolder(target, resource);
  const stage = writeStage({ target, content, attributes, stageDir: settings.stageDir });
  try {
    judgeOwner(context, stage);
    if (!settings.syncOnly && resource.checkCmd !== "") await check(context, stage.path);
    const flush = settings.fsync ? flushTime(target) : "never";
    const beforeReplace = (): void => {
      // While it was checked and flushed another version may have come, and may even have been written.
      if (context.isRetired()) throw new RunError("its resource was replaced", "when something changes");
      context.beforeReplace();
    };
    const replaced = await replaceFile({ stage, target, content, attributes, flush, beforeReplace });
    memory.attributesRefused = replaced.attributesRefused;
    if (replaced.inPlace) tellOnce(context, "info", `${resource.dest}: in-place write: not atomic`);
  } finally {
    stage.close();
    rmSync(stage.path, { force: true });
  }
  log("info", `Target config ${resource.dest} has been updated`);
  if (settings.keepStageFile) keepCandidate(context, target, content, attributes);
  return "written";
}

/** What is different, in words with old and new. */
function differencesOf(
  current: Current | undefined,
  content: Buffer,
  { mode, uid, gid }: Attributes,
  memory: ResourceMemory,
): string[] {
  if (current === undefined) return ["it does not exist"];
  const found: string[] = [];
  if (!current.content.equals(content)) {
    found.push(`content is ${digestOf(current.content)}, should be ${digestOf(content)}`);
  }
  if (memory.attributesRefused) return found;
  if (current.mode !== mode) found.push(`mode is ${shownMode(current.mode)}, should be ${shownMode(mode)}`);
  if (current.uid !== uid && !memory.told.has("owner")) found.push(`uid is ${current.uid}, should be ${uid}`);
  if (current.gid !== gid && !memory.told.has("owner")) found.push(`gid is ${current.gid}, should be ${gid}`);
  return found;
}

function ensureFolder(target: string, { dest, makeDirs }: Resource): void {
  const folder = dirname(target);
  if (makeDirs) mkdirSync(folder, { recursive: true, mode: 0o755 });
  else if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new RunError(
      `dest ${dest}: the folder ${folder} does not exist: create it or set make_dirs = true`,
      "soon",
    );
  }
}

/** An owner that cannot be set is a warning, or an error where that is wanted. */
function judgeOwner(context: RunContext, { ownerProblem }: Stage): void {
  if (ownerProblem === undefined) return;
  const text = `${context.resource.dest}: ${ownerProblem}`;
  if (context.settings.ownership === "strict") throw new RunError(text, "soon");
  tellOnce(context, "warn", text);
  context.memory.told.add("owner");
}

function tellOnce({ memory, log }: RunContext, level: Level, text: string): void {
  if (!memory.told.has(text)) log(level, text);
  memory.told.add(text);
}

async function check(context: RunContext, stagePath: string): Promise<void> {
  const { resource, signal } = context;
  const result = await runCommand({
    command: checkCommand(resource.checkCmd, stagePath),
    timeout: resource.checkCmdTimeout,
    environment: {
      ...context.environment,
      ...commandVariables("check", resource, stagePath, context.revision),
    },
    signal,
  });
  context.onCommand("check", result.status);
  const problem = shownProblem(result, context.secrets);
  if (problem !== undefined) throw new RunError(`Config check failed: ${problem}`, "soon");
  if (isLogged("debug", context.settings.logLevel))
    context.log("debug", `check_cmd printed ${shownOutput(result, context.secrets)}`);
}

/** What commands find in their environment besides the agent's own. */
export function commandVariables(
  action: "check" | "reload",
  resource: Resource,
  src: string,
  revision: number | undefined,
): Readonly<Record<string, string>> {
  return {
    CONFD_ACTION: action,
    CONFD_SRC: src,
    CONFD_DEST: resource.dest,
    CONFD_RESOURCE: resource.name,
    CONFD_REVISION: revision === undefined ? "" : String(revision),
  };
}

/** Leaves the candidate beside the file, the newest one only. */
function keepCandidate(context: RunContext, target: string, content: Buffer, attributes: Attributes): void {
  removeLeftovers(target, { onlyOld: false });
  ensureFolder(target, context.resource);
  const { settings } = context;
  const kept = writeStage({ target, content, attributes, stageDir: settings.stageDir });
  kept.close();
  context.log("info", `Keeping staged file: ${kept.path}`);
}
