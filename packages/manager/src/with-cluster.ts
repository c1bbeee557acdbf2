/** The cluster for a command that looks or writes once and ends. */
import {
  type Client,
  type Connection,
  createClient,
  createLogging,
  type Logger,
  systemClock,
} from "@quartet/core";
import type { LoadedSettings } from "./config/load.ts";
import type { Program } from "./program.ts";
import { connect } from "./run.ts";
import { VERSION } from "./version.ts";

export interface Cluster {
  readonly client: Client;
  readonly connection: Connection;
  /** Writes to stderr: stdout is for what the command tells. */
  readonly log: Logger;
}

/** Connects as the settings say, and closes the client when the work is done. */
export async function withCluster<T>(
  { settings }: LoadedSettings,
  program: Pick<Program, "env" | "stderr">,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const { levels, format } = settings.log;
  const logging = createLogging({ levels, format, destination: program.stderr });
  const { log } = logging;
  const connection = await connect(settings.kube, program.env, logging, systemClock);
  const client = createClient({ connection, version: VERSION, log });
  try {
    return await work({ client, connection, log });
  } finally {
    client.close();
  }
}
