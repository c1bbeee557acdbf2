/** Flags and gates of the controllers as the program reads them. */
import { expect, it } from "vitest";
import { MODULES } from "../modules.ts";
import { loadSettings } from "./load.ts";

it("DSP-101 another value of the flag ends the program, and the message lists the four", async () => {
  const args = ["--daemonset-mode=both"];
  await expect(loadSettings({ args, env: {}, modules: MODULES })).rejects.toThrow(
    /daemonset-mode.*auto.*owner.*companion.*off/,
  );
});

it("DSP-1001 the gate of the patches is known by its name, and no other is", async () => {
  const load = (gate: string) =>
    loadSettings({ args: [`--feature-gates=${gate}=false`], env: {}, modules: MODULES });
  const { settings } = await load("AdvancedDaemonSetNodeLabelPatches");
  expect(settings.features).toMatchObject({ AdvancedDaemonSetNodeLabelPatches: false });
  await expect(load("AdvancedDaemonSetPatches")).rejects.toThrow(/AdvancedDaemonSetPatches/);
  const byItself = await loadSettings({ args: [], env: {}, modules: MODULES });
  expect(byItself.settings.features).toMatchObject({ AdvancedDaemonSetNodeLabelPatches: true });
});
