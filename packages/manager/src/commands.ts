/** What the program can do besides running: it prints, checks, and exits. */
import { checkRights, EXIT, type ExitCode, type ModuleCommand, neededRights, rbacFor } from "@quartet/core";
import { stringify } from "yaml";
import { configFileContent } from "./config/config-file.ts";
import { environmentName, type FlagSpec } from "./config/flags.ts";
import type { LoadedSettings } from "./config/load.ts";
import { electsLeader, leaseNamespace, ownNamespace, rightsOptions } from "./context.ts";
import { enabledModules } from "./flags-of.ts";
import type { Program } from "./program.ts";
import { COMMIT, VERSION } from "./version.ts";
import { withCluster } from "./with-cluster.ts";

/** Namespace in printed roles when none is given; the one of the chart's examples. */
const DEFAULT_NAMESPACE = "quartet-system";

/** Text of `--version`. */
export function versionText(): string {
  return `quartet ${VERSION} (commit ${COMMIT}, node ${process.version})\n`;
}

/** Text of `--help`. */
export function helpText(
  specs: readonly FlagSpec[],
  own: readonly Pick<ModuleCommand, "words" | "help">[],
): string {
  const flags = specs.map((spec) => {
    const value = spec.default === "" || spec.action ? "" : ` (default ${spec.default})`;
    const environment = spec.action ? "" : `\n      ${environmentName(spec.name)}`;
    return `  --${spec.name}${value}\n      ${spec.help}${environment}`;
  });
  return `Usage: quartet [command] [flags]

Commands:
  run      run the controllers (default)
  dev      apply the CRDs of the enabled controllers and run them without leader election; their webhooks are
           registered for an API server on this machine (--webhook-port=-1 leaves them out)
  explain  KIND NAMESPACE/NAME: what the manager on this machine knows of an object (in the manager's pod, or
           through kubectl port-forward to its debug address)
  patch    --daemonset FILE [--node-labels key=value,…]: the pod template that a DaemonSet of apps.kruise.io makes for
           such a node, and which of its patches set what; needs no cluster
  serves   --config FILE URL…: which rule of a tunnel serves each URL, which object asked for it, and what was left out;
           FILE is the tunnel's ConfigMap, - standard input; needs no cluster
  plan     [TUNNEL…]: what the next passes would transmit to tunnels, and what somebody else has changed in the account;
           changes nothing, exits with 1 when something differs; TUNNEL is an identifier or such as ClusterTunnel/main
  adopt-crd daemonsets.apps.kruise.io: take over the definition of an OpenKruise that is no longer there
  version  print the version
  help     print this text
${own.map(({ words, help }) => `  ${words}\n           ${help}\n`).join("")}
Flags, with their environment variables:
${flags.join("\n")}
`;
}

/** Text of `--print-config`: a config file with all that is in force. */
export function configText({ texts, specs }: LoadedSettings): string {
  return stringify(configFileContent(texts, specs));
}

/** Text of `--print-rbac`. */
export function rbacText({ settings }: LoadedSettings, { modules }: Program): string {
  return rbacFor(enabledModules(modules, settings), {
    ...rightsOptions(settings, settings.leaderElection.enabled !== false),
    releaseNamespace: settings.leaderElection.namespace ?? DEFAULT_NAMESPACE,
  });
}

/** `--check`: asks the API server for all rights. Rejects with `PreflightError` when some are missing. */
export function check(loaded: LoadedSettings, program: Program): Promise<ExitCode> {
  const { settings } = loaded;
  return withCluster(loaded, program, async ({ client, connection, log }) => {
    const electing = electsLeader(settings, connection);
    if (electing) leaseNamespace(settings, connection);
    const { asked, unknown, without } = await checkRights({
      client,
      rights: neededRights(enabledModules(program.modules, settings), rightsOptions(settings, electing)),
      releaseNamespace: ownNamespace(settings, connection),
      namespaces: settings.namespaces,
      log,
    });
    if (unknown > 0) {
      program.stderr.write(`${unknown} of ${asked} rights could not be checked\n`);
      return EXIT.failure;
    }
    for (const { module, consequence, rules } of without) {
      program.stdout.write(`${module} does without these rights: ${consequence}\n${rules}`);
    }
    program.stdout.write(`configuration and rights are fine (${asked} rights checked)\n`);
    return EXIT.clean;
  });
}
