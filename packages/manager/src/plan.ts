/** `quartet plan`: what the next passes would transmit to tunnels, and what somebody else has changed there (TUN-639). */
import { ConfigurationError, EXIT, type ExitCode, systemClock } from "@quartet/core";
import { isInStep, operatorNamespaceOf, planTunnels, type TunnelPlan } from "@quartet/tunnel-config";
import type { LoadedSettings } from "./config/load.ts";
import type { Program } from "./program.ts";
import { withCluster } from "./with-cluster.ts";

/** Prints a paragraph for each tunnel that is asked for; exits with 1 when something differs. */
export function plan(loaded: LoadedSettings, names: readonly string[], program: Program): Promise<ExitCode> {
  const { settings } = loaded;
  return withCluster(loaded, program, async ({ client }) => {
    const found = await planTunnels({
      client,
      clock: systemClock,
      operatorNamespace: operatorNamespaceOf(settings.moduleFlags),
      namespaces: settings.namespaces,
      baseUrl: program.env.CLOUDFLARE_API_BASE_URL,
    });
    const { text, differs } = planText(found, names);
    program.stdout.write(text);
    return differs ? EXIT.failure : EXIT.clean;
  });
}

/**
 * The text for the tunnels that are asked for.
 * @param names identifiers of tunnels, or objects such as `ClusterTunnel/main`; none means all
 */
export function planText(
  plans: readonly TunnelPlan[],
  names: readonly string[],
): { readonly text: string; readonly differs: boolean } {
  const unknown = names.find((name) => !plans.some((one) => isNamed(one, name)));
  if (unknown !== undefined) {
    const known = plans.flatMap(({ objects, tunnelId }) => (objects.length > 0 ? objects : tunnelId));
    throw new ConfigurationError(`there is no tunnel ${unknown}; there are: ${known.join(", ") || "none"}`);
  }
  const asked = plans.filter((one) => names.length === 0 || names.some((name) => isNamed(one, name)));
  const text = asked.length === 0 ? "no tunnels\n" : asked.map(paragraph).join("\n");
  return { text, differs: !asked.every(isInStep) };
}

function isNamed({ objects, tunnelId }: TunnelPlan, name: string): boolean {
  return name === tunnelId || objects.includes(name);
}

function paragraph(one: TunnelPlan): string {
  const { objects, tunnelId, rules, unsent, foreign, warnings, rejected, held, lastError, problem } = one;
  const title = [...objects, ...(tunnelId === "" ? [] : [`tunnel ${tunnelId}`])].join(", ");
  const section = (head: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`  ${head}`, ...lines.map((line) => `    ${line}`)];
  const lines = [
    title,
    ...(problem === undefined ? [] : [`  ${problem}`]),
    ...(held === undefined ? [] : [`  ${held}`]),
    ...section("changed in the account by somebody else:", foreign),
    ...section("to be transmitted:", unsent),
    ...(isInStep(one) ? [`  in step, rules: ${rules}`] : []),
    ...rejected.map(
      ({ hostname, path, source, reason }) =>
        `  left out: ${[`${hostname}${path}`, source].filter(Boolean).join(" of ")}: ${reason}`,
    ),
    ...warnings.map((warning) => `  warning: ${warning}`),
    ...(lastError === undefined ? [] : [`  the last transmission failed: ${lastError}`]),
  ];
  return lines.map((line) => `${line}\n`).join("");
}
