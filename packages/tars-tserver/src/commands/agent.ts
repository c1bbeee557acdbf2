/** `quartet tars-agent`: looks after the local volumes of its node; a DaemonSet runs it (tars.md 9). */
import { ConfigurationError, EXIT, type ModuleCommand } from "@quartet/core";
import { runAgent } from "../agent/agent.ts";
import { foldersIn } from "../agent/folders.ts";

/** Base folder: where it is inside of the agent's container, and where it is on the node unless `TLVInHost` says so. */
const BASE = "/usr/local/app/tars/host-mount";

/** The command; `base` is its base folder as it sees it itself. */
export function agentCommand(base: string = BASE): ModuleCommand {
  return {
    words: "tars-agent",
    help: "looks after local volumes of the node that the environment variable NodeName names",
    async run({ env, ...context }) {
      const { NodeName: node, TLVInHost: hostBase } = env;
      if (!node)
        throw new ConfigurationError("the environment variable NodeName is empty: set it to spec.nodeName");
      await runAgent({ ...context, node, hostBase: hostBase || BASE, folders: foldersIn(base) });
      return EXIT.clean;
    },
  };
}
