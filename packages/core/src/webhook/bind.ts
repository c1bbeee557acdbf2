/** Webhooks with their handlers, ready to be served. */
import type { Client } from "../client/types.ts";
import type { DeclaredSource } from "../controller/types.ts";
import type { Manager } from "../manager/types.ts";
import { type FlagValues, holds } from "../module/flags.ts";
import { hookName, hookPath } from "./hook-names.ts";
import type { Mutate, Validate, Webhook } from "./types.ts";

/** A webhook as the server sees it. */
export type BoundWebhook = {
  readonly name: string;
  readonly path: string;
  /** What must be synced before it answers. */
  readonly reads: readonly DeclaredSource[];
  readonly hasSideEffects: boolean;
  readonly client: Client;
} & (
  | { readonly type: "validating"; readonly handle: Validate }
  | { readonly type: "mutating"; readonly handle: Mutate }
);

/** The webhooks that exist with these flags. */
export function bindWebhooks(
  webhooks: readonly Webhook[],
  manager: Manager,
  flags: FlagValues,
): BoundWebhook[] {
  return webhooks
    .filter(({ when }) => holds(when, flags))
    .map((hook) => {
      const common = {
        name: hookName(hook),
        path: hookPath(hook),
        reads: hook.reads ?? [],
        hasSideEffects: hook.sideEffects === "NoneOnDryRun",
        client: manager.client,
      };
      // What objects a handler takes follows from its rules, which the API server has applied.
      return hook.type === "mutating"
        ? { ...common, type: "mutating", handle: hook.handler(manager, flags) as unknown as Mutate }
        : { ...common, type: "validating", handle: hook.handler(manager, flags) as unknown as Validate };
    });
}
