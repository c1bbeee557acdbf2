/** `quartet dev`: the enabled controllers on a cluster at hand, without an installation. */
import { createClient, createLogging, type LoadedSettings, systemClock } from "@quartet/core";
import { applyCrds, crdsOf } from "./crds.ts";
import { enabledModules } from "./flags-of.ts";
import type { Program } from "./program.ts";
import { connect } from "./run.ts";
import { VERSION } from "./version.ts";

/** Applies the CRDs of the enabled controllers. */
export async function prepareDev({ settings }: LoadedSettings, program: Program): Promise<void> {
  const { levels, format } = settings.log;
  const logging = createLogging({ levels, format });
  const connection = await connect(settings.kube, program.env, logging, systemClock);
  const client = createClient({ connection, version: VERSION, log: logging.log });
  try {
    const crds = await crdsOf(enabledModules(program.modules, settings));
    await applyCrds(client, crds, systemClock, logging.log.named("dev"));
  } finally {
    client.close();
  }
}
