/** Admission of Echoes: a default colour, a text that must not be empty, and one that is out of use. */
import type { Manager } from "@quartet/core";
import type { Webhook } from "@quartet/core/webhook";
import type { Echo, EchoOptions } from "./echo.ts";

/** The webhooks; in namespaced mode they ask about the manager's namespaces alone. */
export function echoWebhooks(
  group: string,
  { namespaces }: Manager,
  { onAdmission }: EchoOptions,
): Webhook[] {
  const operations = ["CREATE", "UPDATE"] as const;
  const rules = [
    { groups: [group], versions: ["v1"], resources: ["echoes"], operations, scope: "*" as const },
  ];
  const scope = { key: "kubernetes.io/metadata.name", operator: "In" as const, values: [...namespaces] };
  const common = {
    rules,
    ...(namespaces.length > 0 && { namespaceSelector: { matchExpressions: [scope] } }),
  };
  return [
    {
      ...common,
      type: "mutating",
      name: "default.echo.quartet.io",
      path: "/mutate-echo",
      handle: (echo: Echo) => ({ ...echo, spec: { ...echo.spec, color: echo.spec.color ?? "grey" } }),
    },
    {
      ...common,
      type: "validating",
      name: "validate.echo.quartet.io",
      path: "/validate-echo",
      handle({ spec }: Echo, ctx) {
        onAdmission?.(ctx.dryRun);
        if (spec.text === "OLD") ctx.warn("spec.text: OLD is out of use, write NEW");
        return spec.text === "" ? [{ path: "spec.text", message: "must not be empty" }] : [];
      },
    },
  ];
}
