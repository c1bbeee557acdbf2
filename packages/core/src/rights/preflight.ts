/** Checks the manager's rights before anything starts. */
import { randomUUID } from "node:crypto";
import { stringify } from "yaml";
import type { Client } from "../client/types.ts";
import { PreflightError } from "../manager/errors.ts";
import { messageOf } from "../observe/error-fields.ts";
import type { Logger } from "../observe/types.ts";
import type { NeededRight } from "./needed.ts";
import { compactRights, roleRules, type SingleRight } from "./rules.ts";

/** Reviews in flight at once (CORE-398). */
const PARALLEL = 50;
/** Limit of one review in milliseconds: a server that does not answer must not hold up the start. */
const REVIEW_TIMEOUT_MS = 10_000;

const API = "/apis/authorization.k8s.io/v1";

export interface PreflightOptions {
  client: Pick<Client, "raw">;
  rights: readonly NeededRight[];
  /** The manager's own namespace; without one the rights in it are not checked. */
  releaseNamespace: string | undefined;
  /** Namespaces to work in; empty means all. */
  namespaces: readonly string[];
  log: Logger;
}

export interface PreflightOutcome {
  /** Rights that were asked for, in all namespaces together. */
  readonly asked: number;
  /** Rights among them that could not be judged. */
  readonly unknown: number;
  /** Rights that are missing and that the controllers can do without, by what happens then. */
  readonly without: readonly { module: string; consequence: string; rules: string }[];
}

interface Question extends SingleRight {
  /** `""` asks for all namespaces, or for a cluster-scoped resource. */
  readonly namespace: string;
  readonly optional: NeededRight["optional"];
}

/**
 * Asks the API server for each right: for the rules of each namespace at once, and singly for what these leave open.
 * Rejects with `PreflightError` when some are missing. Reviews that cannot be made are logged, and the start goes on.
 */
export async function checkRights(options: PreflightOptions): Promise<PreflightOutcome> {
  const { client, log } = options;
  const questions = questionsOf(options);
  const open = await withoutGranted(client, questions);
  const missing: Question[] = [];
  const unknown: unknown[] = [];
  await inParallel(open, async (question) => {
    try {
      if (!(await isAllowed(client, question))) missing.push(question);
    } catch (error) {
      unknown.push(error);
    }
  });
  const required = missing.filter(({ optional }) => optional === undefined);
  if (required.length > 0) throw new PreflightError(rulesText(required));
  const without = lossesOf(missing);
  for (const loss of without) log.warn("Optional right missing", loss);
  if (unknown.length > 0) {
    log.warn("Rights could not be checked", {
      unknown: unknown.length,
      asked: questions.length,
      error: messageOf(unknown[0]),
    });
  } else log.debug("Rights checked", { asked: questions.length, singly: open.length });
  return { asked: questions.length, unknown: unknown.length, without };
}

function questionsOf({ rights, releaseNamespace, namespaces }: PreflightOptions): Question[] {
  return rights.flatMap(({ right, place, optional }) => {
    const at = (namespace: string): Question => ({ ...right, namespace, optional });
    if (typeof place !== "string") return [at(place.namespace)];
    if (place === "cluster") return [at("")];
    if (place === "own") return releaseNamespace === undefined ? [] : [at(releaseNamespace)];
    return (namespaces.length === 0 ? [""] : namespaces).map(at);
  });
}

interface GrantedRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

/**
 * The questions that the rules of their namespaces do not answer with yes. What holds in a namespace that does not
 * exist, where no role is bound, holds everywhere.
 */
async function withoutGranted(
  client: Pick<Client, "raw">,
  questions: readonly Question[],
): Promise<Question[]> {
  const nowhere = `quartet-${randomUUID()}`;
  const rules = new Map<string, readonly GrantedRule[]>();
  await inParallel([...new Set(questions.map(({ namespace }) => namespace))], async (namespace) => {
    // What is not told here is asked singly, which tells of the error as well.
    const told = await rulesIn(client, namespace === "" ? nowhere : namespace).catch(() => []);
    rules.set(namespace, told);
  });
  return questions.filter(
    (question) => !rules.get(question.namespace)?.some((rule) => grants(rule, question)),
  );
}

async function rulesIn(client: Pick<Client, "raw">, namespace: string): Promise<readonly GrantedRule[]> {
  const answer = await client.raw(
    "POST",
    `${API}/selfsubjectrulesreviews`,
    { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } },
    { timeoutMs: REVIEW_TIMEOUT_MS },
  );
  return (answer as { status?: { resourceRules?: GrantedRule[] } }).status?.resourceRules ?? [];
}

/** As RBAC decides: `*` stands for all, and `*` before a slash for every resource that has the subresource. */
function grants(rule: GrantedRule, { verb, group, resource, resourceName }: Question): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  const slash = resource.indexOf("/");
  const anySubresource = slash < 0 ? undefined : `*${resource.slice(slash)}`;
  return (
    (verbs.includes(verb) || verbs.includes("*")) &&
    (apiGroups.includes(group) || apiGroups.includes("*")) &&
    resources.some((one) => one === resource || one === "*" || one === anySubresource) &&
    (resourceNames.length === 0 || (resourceName !== undefined && resourceNames.includes(resourceName)))
  );
}

async function isAllowed(client: Pick<Client, "raw">, question: Question): Promise<boolean> {
  const [resource, subresource] = question.resource.split("/");
  const answer = await client.raw(
    "POST",
    `${API}/selfsubjectaccessreviews`,
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: {
        resourceAttributes: {
          verb: question.verb,
          group: question.group,
          resource,
          ...(subresource !== undefined && { subresource }),
          ...(question.resourceName !== undefined && { name: question.resourceName }),
          ...(question.namespace !== "" && { namespace: question.namespace }),
        },
      },
    },
    { timeoutMs: REVIEW_TIMEOUT_MS },
  );
  return (answer as { status?: { allowed?: boolean } }).status?.allowed === true;
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
}

function lossesOf(missing: readonly Question[]): PreflightOutcome["without"] {
  const losses = new Map<string, { module: string; consequence: string; questions: Question[] }>();
  for (const question of missing) {
    if (question.optional === undefined) continue;
    const { module, consequence } = question.optional;
    const key = JSON.stringify([module, consequence]);
    const loss = losses.get(key) ?? { module, consequence, questions: [] };
    loss.questions.push(question);
    losses.set(key, loss);
  }
  return [...losses.values()].map(({ questions, ...rest }) => ({ ...rest, rules: rulesText(questions) }));
}

/** YAML of rules that are missing, by namespace. */
function rulesText(missing: readonly Question[]): string {
  const namespaces = [...new Set(missing.map((question) => question.namespace))].sort();
  return namespaces
    .map((namespace) => {
      const rights = missing
        .filter((question) => question.namespace === namespace)
        .map(({ namespace: _namespace, optional: _optional, ...right }) => right);
      const where = namespace === "" ? "in a ClusterRole" : `in a Role of namespace ${namespace}`;
      return `# ${where}\n${stringify(roleRules(compactRights(rights)))}`;
    })
    .join("");
}
