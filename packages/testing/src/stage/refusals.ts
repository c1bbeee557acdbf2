/**
 * Has the API server refuse a controller one verb on one kind of its children, and looks at what it makes of that: it must
 * tell of it, and try again at growing intervals instead of in a loop.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type ControllerModule, singleRights } from "@quartet/core";
import { eventually } from "./eventually.ts";
import type { Stage, StartOptions } from "./stage.ts";

/** How long a refusal is watched, in milliseconds, and the most writes that a controller may make meanwhile. */
const WATCHED_MS = 20_000;
export const MAX_WRITES = 12;
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

/** A login that has all rights of the module but one. */
async function withholdRight(
  stage: Stage,
  module: ControllerModule,
  { verb, group, resource }: Refusal,
): Promise<Withheld> {
  const own = module.rights.filter(({ place }) => place === undefined).flatMap(singleRights);
  const rules = (without: boolean): object[] => [
    ...own
      .filter((one) => !(without && one.verb === verb && one.resource === resource && one.group === group))
      .map((one) => ({ apiGroups: [one.group], resources: [one.resource], verbs: [one.verb] })),
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ];
  const kubeconfig = await stage.kubeconfigWith(rules(true));
  return { kubeconfig, lift: async () => void (await stage.kubeconfigWith(rules(false))) };
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
