/** The webhooks as the API server is told of them (API-002, API-009). */
import type { FlagValues, Kind, Manager } from "@quartet/core";
import { mutating as mutatingHook, validating as validatingHook, type Webhook } from "@quartet/core/webhook";
import {
  T_ACCOUNT,
  T_CONFIG,
  T_DEPLOY,
  T_FRAMEWORK_CONFIG,
  T_IMAGE,
  T_SERVER,
  T_TEMPLATE,
  T_TREE,
} from "../kinds.ts";
import type { HookContext } from "./context.ts";
import { mutating } from "./mutating.ts";
import { validating } from "./validating.ts";

/** Objects are judged in the version in which they are sent. */
const versions = ["v1beta2", "v1beta3"];
const DEFAULTED = [T_DEPLOY, T_SERVER, T_CONFIG, T_TEMPLATE, T_ACCOUNT, T_IMAGE, T_TREE] as readonly Kind[];
const KEPT_WHILE_USED: readonly unknown[] = [T_TREE, T_CONFIG, T_TEMPLATE];

/** A webhook of either type for each kind; `contextOf` makes what they share. */
export function tarsWebhooks(contextOf: (manager: Manager, flags: FlagValues) => HookContext): Webhook[] {
  const defaults = { versions, handler: (...given: [Manager, FlagValues]) => mutating(contextOf(...given)) };
  const rules = {
    versions,
    // They mark the versions of a configuration that a new one takes the place of (D19).
    sideEffects: "NoneOnDryRun" as const,
    handler: (...given: [Manager, FlagValues]) => validating(contextOf(...given)),
  };
  const scale = { kind: T_SERVER as unknown as Kind, subresource: "scale", operations: ["UPDATE"] as const };
  return [
    ...DEFAULTED.map((kind) => mutatingHook({ ...defaults, kind, operations: ["CREATE", "UPDATE"] })),
    mutatingHook({ ...defaults, ...scale }),
    ...DEFAULTED.map((kind) =>
      validatingHook({
        ...rules,
        kind,
        operations: ["CREATE", "UPDATE", ...(KEPT_WHILE_USED.includes(kind) ? (["DELETE"] as const) : [])],
      }),
    ),
    validatingHook({ ...rules, ...scale }),
    validatingHook({ ...rules, kind: T_FRAMEWORK_CONFIG as unknown as Kind, operations: ["CREATE"] }),
  ];
}
