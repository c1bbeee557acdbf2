/**
 * Has the API server refuse a controller one verb on one kind of its children, and looks at what it makes of that: it must
 * tell of it, and try again at growing intervals instead of in a loop.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { ControllerModule } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { narrowed } from "./rights.ts";
import type { Stage, StartOptions } from "./stage.ts";

/** How long a refusal is watched, in milliseconds, and the most writes that a controller may make meanwhile. */
const WATCHED_MS = 20_000;
export const MAX_WRITES = 12;
/** Longest wait between two tries is a minute. */
const RETRY_LIMIT_MS = 100_000;
/** A policy is in force some time after it was made. */
const EFFECT_MS = 30_000;
const POLICY_API = "/apis/admissionregistration.k8s.io/v1";
const PROBE = "policy-probe";

/** What is refused. */
export interface Refusal {
  readonly verb: "create" | "update" | "patch" | "delete";
  readonly group: string;
  /** Plural of the kind, or a subresource of it: `daemonsets/status`. */
  readonly resource: string;
}

/** By a missing right, or by an admission policy (of which the double has none). */
export type RefusedBy = "rights" | "policy";

/** What came of a refusal. */
export interface Refused {
  /** Writes from the first refusal on, as `verb resource name`; what led to it is the controller's work. */
  readonly writes: readonly string[];
  /** Ends the refusal; the manager goes on. */
  lift(): Promise<void>;
}

export interface RefusalCase {
  readonly stage: Stage;
  readonly module: ControllerModule;
  readonly refusal: Refusal;
  readonly by: RefusedBy;
  /** Starts a manager; by default the stage does. */
  start?(options: StartOptions): Promise<unknown>;
  /** Does what makes the controller need the verb. */
  provoke(): Promise<unknown>;
}

/** Verbs that change something. */
const WRITES: readonly string[] = ["create", "update", "patch", "delete"];

/** One refusal of a sweep. */
export interface SweptRefusal<S extends Stage> {
  /** `verb group/resource`. */
  readonly refused: string;
  /** What is there before; the manager that `start` gives is stopped after it. */
  prepare(stage: S): Promise<unknown>;
  /** Makes the controller need the verb. */
  provoke(stage: S): Promise<unknown>;
}

export interface RefusalSweep<S extends Stage> {
  /** IDs of the rules for the titles. */
  readonly ids: string;
  readonly module: ControllerModule;
  open(): Promise<S>;
  /** Starts a manager; by default the stage does. */
  start?(stage: S, options: StartOptions): Promise<{ stop(): Promise<void> }>;
  readonly cases: readonly SweptRefusal<S>[];
  /** Writes that no case can be made for, with the reason: `verb group/resource`. */
  readonly without?: Readonly<Record<string, string>>;
  /** What the reconciled objects say of their state, as text. */
  told(stage: S): Promise<string>;
}

/**
 * Tests that refuse each write to a controller in turn: by a missing right on both targets, and by an admission policy on
 * the real one. The refusal must be told in the status in the server's words, and be over when it is lifted. Another test
 * sees to it that each write among the module's rights has its case.
 */
export function testRefusals<S extends Stage>(sweep: RefusalSweep<S>): void {
  const { ids, module, cases, without = {} } = sweep;
  const rows = cases.map((one) => [one.refused, one] as const);
  const real = process.env.QUARTET_TARGET === "real";

  it(`${ids}: every write that the module has a right to is refused once`, () => {
    const covered = new Set([...cases.map(({ refused }) => refused), ...Object.keys(without)]);
    expect(writesOf(module).filter((write) => !covered.has(write))).toEqual([]);
  });

  describe.concurrent("refusals", () => {
    it.each(rows)(
      `${ids}: without the right to %s it says so, tries at growing intervals, and goes on when it may`,
      async (_refused, one) => watchRefusal(sweep, one, "rights"),
    );

    // The double has no policies.
    it.runIf(real).each(rows)(
      `${ids}: a policy that denies %s is quoted, asked at growing intervals, and never in a loop`,
      async (_refused, one) => watchRefusal(sweep, one, "policy"),
    );
  });
}

/** Writes to whole objects among the rights of a module, as `verb group/resource`. */
function writesOf({ rights }: ControllerModule): string[] {
  const writes = rights
    .filter(({ subresource, place = "work" }) => subresource === undefined && place === "work")
    .flatMap(({ kind, verbs }) =>
      verbs.filter((verb) => WRITES.includes(verb)).map((verb) => `${verb} ${kind.group}/${kind.plural}`),
    );
  return [...new Set(writes)];
}

async function watchRefusal<S extends Stage>(
  sweep: RefusalSweep<S>,
  { refused, prepare, provoke }: SweptRefusal<S>,
  by: RefusedBy,
): Promise<void> {
  const { module, told } = sweep;
  const stage = await sweep.open();
  const start = (options: StartOptions): Promise<{ stop(): Promise<void> }> =>
    sweep.start?.(stage, options) ?? stage.start({ modules: [module], ...options });
  try {
    const manager = await start({});
    await prepare(stage);
    await manager.stop();
    const refusal = refusalOf(refused);
    const { writes, lift } = await refuse({
      stage,
      module,
      refusal,
      by,
      start,
      provoke: () => provoke(stage),
    });
    expect(writes.length, writes.join("\n")).toBeLessThanOrEqual(MAX_WRITES);
    const words = by === "policy" ? /not on a Friday/ : /is forbidden/;
    expect(await told(stage)).toMatch(words);
    // How long a policy stays in force after its end is the server's affair.
    if (by === "policy") return;
    await lift();
    await eventually(async () => expect(await told(stage)).not.toMatch(words), RETRY_LIMIT_MS);
  } finally {
    await stage.close();
  }
}

function refusalOf(refused: string): Refusal {
  const [verb, place] = refused.split(" ") as [Refusal["verb"], string];
  const [group = "", ...resource] = place.split("/");
  return { verb, group, resource: resource.join("/") };
}

/** Starts a manager that is refused a verb, provokes it, and watches it for 20 s. Throws when nothing was refused. */
export async function refuse({
  stage,
  module,
  refusal,
  by,
  provoke,
  ...more
}: RefusalCase): Promise<Refused> {
  const start = more.start ?? ((options) => stage.start({ modules: [module], ...options }));
  const withheld =
    by === "rights" ? await withholdRight(stage, module, refusal) : await denyByPolicy(stage, refusal);
  await start({ kubeconfig: withheld.kubeconfig });
  const since = Date.now();
  await provoke();
  await sleep(WATCHED_MS);
  const refusals = (await stage.requests(since)).filter(({ code, verb, resource, subresource, dryRun }) => {
    const what = subresource === "" ? resource : `${resource}/${subresource}`;
    return code >= 400 && !dryRun && verb === refusal.verb && what === refusal.resource;
  });
  if (refusals.length === 0)
    throw new Error(`nothing was refused: no ${refusal.verb} of ${refusal.resource}`);
  return { writes: await stage.writes(refusals[0]!.at), lift: withheld.lift };
}

interface Withheld {
  readonly kubeconfig: string;
  lift(): Promise<void>;
}

/** A login that has all rights of the module's chart but one. */
async function withholdRight(
  stage: Stage,
  module: ControllerModule,
  { verb, group, resource }: Refusal,
): Promise<Withheld> {
  const less = narrowed(module, (one, of) => !(one === verb && of === `${group}/${resource}`));
  const kubeconfig = await stage.kubeconfigFor([less]);
  return { kubeconfig, lift: async () => void (await stage.kubeconfigFor([module])) };
}

/** The stage's own login, with an admission policy against it. */
async function denyByPolicy(stage: Stage, { verb, group, resource }: Refusal): Promise<Withheld> {
  await stage.grant();
  const { client, namespace, user } = stage;
  const metadata = { name: `refuse-${namespace}` };
  const operation = { create: "CREATE", update: "UPDATE", patch: "UPDATE", delete: "DELETE" }[verb];
  const [plural, subresource = ""] = resource.split("/");
  const rule = (operations: string[], apiGroups: string[], resources: string[]): object => {
    return { operations, apiGroups, apiVersions: ["*"], resources };
  };
  await client.ok("POST", `${POLICY_API}/validatingadmissionpolicies`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata,
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        resourceRules: [rule([operation], [group], [resource]), rule(["CREATE"], [""], ["configmaps"])],
      },
      matchConditions: [
        {
          name: "whom",
          expression: `request.name == '${PROBE}' || (request.userInfo.username == '${user}' && request.operation == '${operation}' && request.resource.resource == '${plural}' && request.subResource == '${subresource}')`,
        },
      ],
      validations: [{ expression: "false", message: "not on a Friday" }],
    },
  });
  await client.ok("POST", `${POLICY_API}/validatingadmissionpolicybindings`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata,
    spec: { policyName: metadata.name, validationActions: ["Deny"] },
  });
  const lift = async (): Promise<void> => {
    await client.request("DELETE", `${POLICY_API}/validatingadmissionpolicybindings/${metadata.name}`);
    await client.request("DELETE", `${POLICY_API}/validatingadmissionpolicies/${metadata.name}`);
  };
  stage.onClose(lift);
  await eventually(async () => {
    const probe = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: PROBE } };
    const { code } = await client.request(
      "POST",
      `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
      probe,
    );
    if (code === 201) throw new Error("the policy is not in force");
  }, EFFECT_MS);
  return { kubeconfig: await stage.kubeconfig(), lift };
}
