/** The webhooks as the API server is told of them (API-002, API-009). */
import type { Webhook, WebhookRule } from "@quartet/core/webhook";
import { GROUP } from "../labels.ts";
import type { HookContext } from "./context.ts";
import { mutating } from "./mutating.ts";
import { validating } from "./validating.ts";

type Operation = WebhookRule["operations"][number];

const DEFAULTED = ["tdeploys", "tservers", "tconfigs", "ttemplates", "taccounts", "timages", "ttrees"];
const KEPT_WHILE_USED = ["ttrees", "tconfigs", "ttemplates"];

const rule = (operations: readonly Operation[], ...resources: string[]): WebhookRule => ({
  groups: [GROUP],
  versions: ["v1beta2", "v1beta3"],
  resources,
  operations,
  scope: "Namespaced",
});

/** Both webhooks; those of a manager that works in some namespaces ask about these alone. */
export function tarsWebhooks(context: HookContext, namespaces: readonly string[]): Webhook[] {
  const writes = rule(["CREATE", "UPDATE"], ...DEFAULTED);
  const scale = rule(["UPDATE"], "tservers/scale");
  const within = { key: "kubernetes.io/metadata.name", operator: "In" as const, values: [...namespaces] };
  const scope = namespaces.length > 0 && { namespaceSelector: { matchExpressions: [within] } };
  return [
    {
      type: "mutating",
      name: "mutating.tars.quartet.io",
      path: "/mutate-tars",
      rules: [writes, scale],
      ...scope,
      handle: mutating(context),
    },
    {
      type: "validating",
      name: "validating.tars.quartet.io",
      path: "/validate-tars",
      // It marks the versions of a configuration that a new one takes the place of (D19).
      sideEffects: "NoneOnDryRun",
      rules: [writes, scale, rule(["CREATE"], "tframeworkconfigs"), rule(["DELETE"], ...KEPT_WHILE_USED)],
      ...scope,
      handle: validating(context),
    },
  ];
}
