/** `quartet tars-agent`: looks after the local volumes of its node; a DaemonSet runs it (tars.md 9). */
import { ConfigurationError, EXIT, type ModuleCommand } from "@quartet/core";
import { runAgent } from "../agent/agent.ts";
import { foldersIn } from "../agent/folders.ts";

/** Base folder: where it is inside of the agent's container, and where it is on the node unless `TLVInHost` says so. */
const BASE = "/usr/local/app/tars/host-mount";
/** Volumes of one namespace on a node unless `TLVLimit` says so: more than a node runs pods (LV-014). */
const LIMIT = 1000;

/** The command; `base` is its base folder as it sees it itself. */
export function agentCommand(base: string = BASE): ModuleCommand {
  return {
    words: "tars-agent",
    help: "looks after local volumes of the node that the environment variable NodeName names",
    async run({ env, ...context }) {
      const { NodeName: node, TLVInHost: hostBase, TLVLimit: limit } = env;
      if (!node)
        throw new ConfigurationError("the environment variable NodeName is empty: set it to spec.nodeName");
      if (limit && !/^[1-9]\d{0,5}$/.test(limit))
        throw new ConfigurationError("the environment variable TLVLimit is no number from 1 to 999999");
      await runAgent({
        ...context,
        ...{ node, hostBase: hostBase || BASE, limit: Number(limit || LIMIT), folders: foldersIn(base) },
      });
      return EXIT.clean;
    },
  };
}
