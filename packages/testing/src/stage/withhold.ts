/** Ways to have the API server refuse a manager one verb on one kind. */
import type { ControllerModule } from "@quartet/core";
import { eventually } from "./eventually.ts";
import { narrowed } from "./rights.ts";
import type { Stage } from "./stage.ts";

/** A policy, webhook or quota is in force some time after it was made. */
const EFFECT_MS = 30_000;
const ADMISSION = "admissionregistration.k8s.io/v1";
const ADMISSION_API = `/apis/${ADMISSION}`;
const PROBE = "policy-probe";
/** Where nobody listens. */
const NOWHERE = "https://127.0.0.1:1/";

/** What is refused. */
export interface Refusal {
  readonly verb: "create" | "update" | "patch" | "delete";
  readonly group: string;
  /** Plural of the kind, or a subresource of it: `daemonsets/status`. */
  readonly resource: string;
}

/** By a missing right; on the real control plane also by an admission policy, a webhook that is down, or a quota. */
export type RefusedBy = "rights" | "policy" | "webhook" | "quota";

/** The login of a manager that is refused something, and the end of that. */
export interface Withheld {
  readonly kubeconfig: string;
  lift(): Promise<void>;
}

/** What the server says, by what refuses. */
export const WORDS: Readonly<Record<RefusedBy, RegExp>> = {
  rights: /is forbidden/,
  policy: /not on a Friday/,
  webhook: /failed calling webhook/,
  quota: /exceeded quota/,
};

/** Withholds a verb; resolves when that is in force. */
export function withhold(
  by: RefusedBy,
  stage: Stage,
  module: ControllerModule,
  refusal: Refusal,
): Promise<Withheld> {
  switch (by) {
    case "rights":
      return withholdRight(stage, module, refusal);
    case "policy":
      return denyByPolicy(stage, refusal);
    case "webhook":
      return askDeadWebhook(stage, refusal);
    case "quota":
      return denyByQuota(stage, refusal);
  }
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

const operationOf = ({ verb }: Refusal): string =>
  ({ create: "CREATE", update: "UPDATE", patch: "UPDATE", delete: "DELETE" })[verb];

/** Rules that concern the verb, and the probe that shows that they are in force. */
function rulesOf(refusal: Refusal): object[] {
  const rule = (operations: string[], apiGroups: string[], resources: string[]): object => {
    return { operations, apiGroups, apiVersions: ["*"], resources };
  };
  const { group, resource } = refusal;
  return [rule([operationOf(refusal)], [group], [resource]), rule(["CREATE"], [""], ["configmaps"])];
}

/** Condition that lets only the manager's requests and the probe match. */
function whom({ user }: Stage, refusal: Refusal): object {
  // The rules themselves tell a subresource from its object.
  const [plural] = refusal.resource.split("/");
  const name = "(has(request.name) ? request.name : '')";
  return {
    name: "whom",
    expression: [
      `${name} == '${PROBE}' || (request.userInfo.username == '${user}'`,
      `request.operation == '${operationOf(refusal)}'`,
      `request.resource.resource == '${plural}')`,
    ].join(" && "),
  };
}

const inNamespace = (name: string): object => ({ matchLabels: { "kubernetes.io/metadata.name": name } });

async function inForce({ client, namespace }: Stage): Promise<void> {
  await eventually(async () => {
    const probe = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: PROBE } };
    const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
    const { code } = await client.request("POST", path, probe);
    if (code === 201) throw new Error("the refusal is not in force");
  }, EFFECT_MS);
}

/** The stage's own login, with an admission policy against it. */
async function denyByPolicy(stage: Stage, refusal: Refusal): Promise<Withheld> {
  await stage.grant();
  const { client, namespace } = stage;
  const metadata = { name: `refuse-${namespace}` };
  await client.ok("POST", `${ADMISSION_API}/validatingadmissionpolicies`, {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicy",
    metadata,
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { namespaceSelector: inNamespace(namespace), resourceRules: rulesOf(refusal) },
      matchConditions: [whom(stage, refusal)],
      validations: [{ expression: "false", message: "not on a Friday" }],
    },
  });
  await client.ok("POST", `${ADMISSION_API}/validatingadmissionpolicybindings`, {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata,
    spec: { policyName: metadata.name, validationActions: ["Deny"] },
  });
  const lift = async (): Promise<void> => {
    await client.request("DELETE", `${ADMISSION_API}/validatingadmissionpolicybindings/${metadata.name}`);
    await client.request("DELETE", `${ADMISSION_API}/validatingadmissionpolicies/${metadata.name}`);
  };
  stage.onClose(lift);
  await inForce(stage);
  return { kubeconfig: await stage.kubeconfig(), lift };
}

/** The stage's own login, with a webhook for its requests that nobody answers. */
async function askDeadWebhook(stage: Stage, refusal: Refusal): Promise<Withheld> {
  await stage.grant();
  const { client, namespace } = stage;
  const metadata = { name: `refuse-${namespace}` };
  const path = `${ADMISSION_API}/validatingwebhookconfigurations`;
  await client.ok("POST", path, {
    apiVersion: ADMISSION,
    kind: "ValidatingWebhookConfiguration",
    metadata,
    webhooks: [
      {
        name: "down.quartet.io",
        clientConfig: { url: NOWHERE },
        rules: rulesOf(refusal),
        namespaceSelector: inNamespace(namespace),
        matchConditions: [whom(stage, refusal)],
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 1,
      },
    ],
  });
  const lift = async (): Promise<void> => void (await client.request("DELETE", `${path}/${metadata.name}`));
  stage.onClose(lift);
  await inForce(stage);
  return { kubeconfig: await stage.kubeconfig(), lift };
}

/** The stage's own login in a namespace that may have no more objects of the kind. */
async function denyByQuota(stage: Stage, { verb, group, resource }: Refusal): Promise<Withheld> {
  if (verb !== "create") throw new Error(`a quota refuses no ${verb}`);
  await stage.grant();
  const { client, namespace } = stage;
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  await client.ok("POST", path, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "refuse" },
    spec: { hard: { [`count/${resource}${group === "" ? "" : `.${group}`}`]: "0" } },
  });
  await eventually(async () => {
    const { status } = await client.ok<{ status?: { used?: object } }>("GET", `${path}/refuse`);
    if (status?.used === undefined) throw new Error("the quota is not in force");
  }, EFFECT_MS);
  const lift = async (): Promise<void> => void (await client.request("DELETE", `${path}/refuse`));
  return { kubeconfig: await stage.kubeconfig(), lift };
}
