/** A controller of Echoes whose behaviour their authors decide as far as they can: what is read, and where is written. */
import {
  allow,
  type Condition,
  type ControllerModule,
  keyOf,
  outcomeOf,
  type ReconcileContext,
  reconciles,
  setOutcome,
  systemClock,
} from "@quartet/core";
import { CONFIG_MAP, type Echo, echoKind } from "../../echo/echo.ts";

const ECHO = echoKind("test.quartet.io");

/** Names of ConfigMaps that an Echo refers to. */
const refsOf = ({ spec }: { readonly spec: { readonly [field: string]: unknown } }): string[] =>
  (spec.refs as string[] | undefined) ?? [];

/** Copies the texts of what an Echo refers to into a ConfigMap, in the namespace that the Echo names. */
export function createReferrerModule(): ControllerModule {
  return {
    name: "referrer",
    aliases: [],
    kinds: [ECHO],
    crds: [],
    rights: [...reconciles(ECHO), allow(CONFIG_MAP, ["get", "list", "watch", "create", "patch"])],
    flags: [],
    build: (manager) =>
      manager.add(
        manager
          .controller("referrer")
          .for(ECHO)
          .references(CONFIG_MAP, refsOf)
          .complete(async (key, ctx) => {
            const echo = await ctx.cache.get(ECHO, key);
            if (echo === undefined) return;
            const texts: string[] = [];
            for (const name of refsOf(echo)) {
              const found = await ctx.cache.get(CONFIG_MAP, { ...key, name });
              texts.push(found?.data?.text ?? "none");
            }
            await copy(echo as Echo, texts.join(), ctx);
          }),
      ),
  };
}

async function copy(echo: Echo, text: string, ctx: ReconcileContext): Promise<void> {
  const { namespace, name } = keyOf(echo);
  const report = (outcome: Parameters<typeof setOutcome>[1]): Promise<unknown> => {
    const before = echo.status?.conditions as Condition[] | undefined;
    const { conditions } = setOutcome(before, outcome, echo.metadata.generation ?? 0, systemClock.now());
    return ctx.client.patchStatus(ECHO, echo, { ...echo.status, conditions });
  };
  try {
    const metadata = { name: `${name}-out`, namespace: (echo.spec.into as string | undefined) ?? namespace };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text } };
    await ctx.client.applyOwned(CONFIG_MAP, object);
    await report({ state: "ready", reason: "Copied" });
  } catch (error) {
    await report(outcomeOf(error));
    throw error;
  }
}
