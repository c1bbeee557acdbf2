/** Admission of Echoes: a default colour, a text that must not be empty, and one that is out of use. */
import type { Kind } from "@quartet/core";
import { mutating, validating, type Webhook } from "@quartet/core/webhook";
import type { Echo, EchoOptions } from "./types.ts";

export function echoWebhooks(kind: Kind<Echo>, { onAdmission }: EchoOptions): Webhook[] {
  return [
    mutating({
      kind,
      operations: ["CREATE", "UPDATE"],
      path: "/mutate-echo",
      handler: () => (echo) => ({ ...echo, spec: { ...echo.spec, color: echo.spec.color ?? "grey" } }),
    }),
    validating({
      kind,
      operations: ["CREATE", "UPDATE"],
      path: "/validate-echo",
      handler:
        () =>
        ({ spec }, ctx) => {
          onAdmission?.(ctx.dryRun);
          if (spec.text === "OLD") ctx.warn("spec.text: OLD is out of use, write NEW");
          return spec.text === "" ? [{ path: "spec.text", message: "must not be empty" }] : [];
        },
    }),
  ];
}
