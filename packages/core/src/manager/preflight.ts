/** Checks the manager's rights before anything starts. */
import { stringify } from "yaml";
import type { Client } from "../client/types.ts";
import { messageOf } from "../observe/error-fields.ts";
import type { Logger } from "../observe/types.ts";
import { PreflightError } from "./errors.ts";
import type { NeededRights } from "./rights.ts";
import { compactRights, expandRules, type Right, roleRules } from "./rules.ts";

/** Reviews in flight at once (CORE-398). */
const PARALLEL = 50;
/** Limit of one review in milliseconds: a server that does not answer must not hold up the start. */
const REVIEW_TIMEOUT_MS = 10_000;

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export interface PreflightOptions {
  client: Pick<Client, "raw">;
  rights: NeededRights;
  /** The manager's own namespace; without one the rights in it are not checked. */
  releaseNamespace: string | undefined;
  /** Namespaces to work in; empty means all. */
  namespaces: readonly string[];
  log: Logger;
}

interface Question extends Right {
  /** `""` asks for all namespaces, or for a cluster-scoped resource. */
  readonly namespace: string;
}

/**
 * Asks the API server for each right; rejects with `PreflightError` when some are missing. Reviews that cannot be
 * made are logged, and the start goes on; their number is returned.
 */
export async function checkRights(options: PreflightOptions): Promise<{ asked: number; unknown: number }> {
  const questions = questionsOf(options);
  const missing: Question[] = [];
  const unknown: unknown[] = [];
  const worker = async (queue: Iterator<Question>): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      try {
        if (!(await isAllowed(options.client, next.value))) missing.push(next.value);
      } catch (error) {
        unknown.push(error);
      }
    }
  };
  const queue = questions.values();
  await Promise.all(Array.from({ length: Math.min(PARALLEL, questions.length) }, () => worker(queue)));
  if (missing.length > 0) throw new PreflightError(missingRules(missing));
  if (unknown.length > 0) {
    options.log.warn("Rights could not be checked", {
      unknown: unknown.length,
      asked: questions.length,
      error: messageOf(unknown[0]),
    });
  } else options.log.debug("Rights checked", { asked: questions.length });
  return { asked: questions.length, unknown: unknown.length };
}

function questionsOf({ rights, releaseNamespace, namespaces }: PreflightOptions): Question[] {
  const inNamespace = (list: readonly Right[], namespace: string): Question[] =>
    list.map((right) => ({ ...right, namespace }));
  const work = expandRules(rights.work);
  return [
    ...inNamespace(expandRules(rights.cluster), ""),
    ...(namespaces.length === 0 ? [""] : namespaces).flatMap((namespace) => inNamespace(work, namespace)),
    ...(releaseNamespace === undefined ? [] : inNamespace(expandRules(rights.own), releaseNamespace)),
  ];
}

async function isAllowed(client: Pick<Client, "raw">, question: Question): Promise<boolean> {
  const [resource, subresource] = question.resource.split("/");
  const answer = await client.raw(
    "POST",
    REVIEWS,
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

/** YAML of the missing rules, by namespace. */
function missingRules(missing: readonly Question[]): string {
  const namespaces = [...new Set(missing.map((question) => question.namespace))].sort();
  return namespaces
    .map((namespace) => {
      const rights = missing
        .filter((question) => question.namespace === namespace)
        .map(({ namespace: _namespace, ...right }) => right);
      const where = namespace === "" ? "in a ClusterRole" : `in a Role of namespace ${namespace}`;
      return `# ${where}\n${stringify(roleRules(compactRights(rights)))}`;
    })
    .join("");
}
