/** The controller of docs/guides/write-a-controller.md: the guide shows the regions of this file as they are. */
// #region reconcile
import * as core from "@quartet/core";
import { CONFIG_MAP, GREETING, GROUP, type Greeting } from "./api.ts";

/** A service outside the cluster. Both calls may be repeated. */
export type GuestBook = Record<"sign" | "strike", (guest: string) => Promise<void>>;

export function createReconcile(book: GuestBook, clock: core.Clock): core.Reconcile {
  return async (key, ctx) => {
    const greeting = await ctx.cache.get(GREETING, key);
    if (greeting === undefined) return;
    const { spec, metadata, status } = greeting;
    const report = (outcome: core.Outcome): Promise<unknown> => {
      const { generation = 0 } = metadata;
      const { conditions } = core.setOutcome(status?.conditions, outcome, generation, clock.now());
      return ctx.client.patchStatus(GREETING, greeting, { ...status, conditions });
    };
    const source = await ctx.cache.get(CONFIG_MAP, { ...key, name: spec.phraseFrom });
    if (source?.data?.phrase === undefined) {
      const message = `ConfigMap ${spec.phraseFrom} has no key "phrase"`;
      await report({ state: "reconciling", reason: "PhraseMissing", message });
      return;
    }
    const ready = core.findCondition(status?.conditions, "Ready");
    if (!ctx.dryRun && !core.isTrue(greeting, ready)) await book.sign(core.keyToString(key));
    await write(greeting, `${source.data.phrase}, ${spec.name}!`, ctx);
    await report({ state: "ready", reason: "Greeted" });
  };
}
// #endregion

// #region write
type Cached = core.DeepReadonly<Greeting>;

async function write(greeting: Cached, text: string, ctx: core.ReconcileContext): Promise<void> {
  const key = core.keyOf(greeting);
  const out = { ...key, name: `${key.name}-out` };
  const current = await ctx.cache.get(CONFIG_MAP, out);
  if (current !== undefined && !core.isControlledBy(current, greeting)) {
    throw new Error(`ConfigMap ${out.name} is not ours: remove it, or rename the Greeting`);
  }
  if (current?.data?.text === text) return;
  const metadata = { ...out, ownerReferences: [core.controllerReference(GREETING, greeting)] };
  await ctx.client.applyOwned(CONFIG_MAP, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text } });
  ctx.events.record(greeting, { type: "Normal", reason: "Greeted", note: text });
}
// #endregion

// #region module
export function createGreetingModule(book: GuestBook): core.ControllerModule {
  const rights = [
    ...core.reconciles(GREETING),
    core.allow(GREETING, ["patch"]),
    core.allow(CONFIG_MAP, ["get", "list", "watch", "create", "patch"]),
  ];
  const build = (manager: core.Manager): void => {
    const builder = manager.controller("greeting").for(GREETING).owns(CONFIG_MAP);
    builder.references(CONFIG_MAP, ({ spec }) => [spec.phraseFrom]);
    builder.finalizer(`${GROUP}/guest-book`, (greeting) =>
      book.strike(core.keyToString(core.keyOf(greeting))),
    );
    manager.add(builder.complete(createReconcile(book, manager.clock)));
  };
  return { name: "greeting", aliases: [], kinds: [GREETING], crds: [], rights, flags: [], build };
}
// #endregion
