/** `quartet dev`: the enabled controllers on a cluster at hand, without an installation. */
import { systemClock } from "@quartet/core";
import type { LoadedSettings } from "./config/load.ts";
import { applyCrds, crdsOf } from "./crds.ts";
import { enabledModules } from "./flags-of.ts";
import type { Program } from "./program.ts";
import { withCluster } from "./with-cluster.ts";

/** Applies the CRDs of the enabled controllers. */
export function prepareDev(loaded: LoadedSettings, program: Program): Promise<void> {
  return withCluster(loaded, program, async ({ client, log }) => {
    const crds = await crdsOf(enabledModules(program.modules, loaded.settings));
    await applyCrds(client, crds, systemClock, log.named("dev"));
  });
}
