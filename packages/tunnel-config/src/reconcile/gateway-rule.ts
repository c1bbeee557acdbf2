/** GatewayRules (TUN-944). */
import type { GatewayRule } from "../api.gen.ts";
import type { Collection } from "../cloudflare/collection.ts";
import { isHeld, isSame } from "../desired/changes.ts";
import { type RemoteRule, ruleFields, ruleName, ruleProblem } from "../desired/gateway-rule.ts";
import { GATEWAY_RULE } from "../kinds.ts";
import type { ResourceKind, Scope, Wanted } from "./resource.ts";

/** Longest description, in characters. */
const DESCRIPTION = 1000;

interface WantedRule extends Wanted {
  readonly fields: Readonly<Record<string, unknown>>;
}

const rules = ({ api, account }: Scope): Collection<RemoteRule> => api.collection(account, "gateway/rules");

export const GATEWAY_RULES: ResourceKind<GatewayRule, WantedRule, RemoteRule> = {
  kind: GATEWAY_RULE,
  finalizer: "gatewayrule.networking.cloudflare-operator.io/finalizer",
  noun: "rule",
  states: { ready: "Ready", error: "Error" },
  idField: "ruleId",
  comment: {
    limit: DESCRIPTION,
    of: ({ description }) => description,
    text: ({ spec }) => spec.description,
  },
  cloudflare: ({ spec }) => spec.cloudflare,
  problem: ruleProblem,
  claimKey: ruleName,
  wanted: async (object) => ({ key: ruleName(object), fields: ruleFields(object) }),
  get: (scope, id) => rules(scope).get(id),
  find: async (scope, name) => (await rules(scope).list()).filter((rule) => rule.name === name),
  keyOf: ({ name }) => name,
  create: (scope, { fields }, description) => rules(scope).create({ ...fields, description }),
  async update(scope, remote, { fields }, description, { strict }) {
    const wanted = { ...fields, description };
    // What the spec no longer has is taken away with the change of it.
    const absent = strict ? Object.fromEntries(OPTIONAL.map((field) => [field, undefined])) : {};
    const equal = strict ? isSame : isHeld;
    const same = Object.entries({ ...absent, ...wanted }).every(([field, value]) =>
      equal(remote[field], value),
    );
    return same ? remote : rules(scope).put(remote.id, wanted);
  },
  remove: (scope, { id }) => rules(scope).remove(id),
  async release(scope, { id, ...fields }, description) {
    await rules(scope).put(id, { ...fields, description });
  },
  status: () => ({}),
};

/** Fields that a rule need not have. */
const OPTIONAL = ["filters", "schedule", "expiration", "rule_settings"] as const;
