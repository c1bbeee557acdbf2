/** The signs of an OpenKruise, read once (DSP-113). */
import { type Client, isNotFound, type Kind, type KubeObject } from "@quartet/core";
import { LEASE, MUTATING_WEBHOOK_CONFIGURATION } from "@quartet/core/kinds";
import { KRUISE_CONFIGURATION, KRUISE_LEASE, signalsOf } from "./signals.ts";

/** What says that an OpenKruise serves DaemonSets; none when it may be replaced. `now` in milliseconds since the Unix epoch. */
export async function runningKruise(
  client: Pick<Client, "get">,
  kruiseNamespace: string,
  now: number,
): Promise<string[]> {
  const find = async <T extends KubeObject>(kind: Kind<T>, namespace: string, name: string) => {
    try {
      return await client.get(kind, { namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const configuration = await find(MUTATING_WEBHOOK_CONFIGURATION, "", KRUISE_CONFIGURATION);
  const lease = await find(LEASE, kruiseNamespace, KRUISE_LEASE);
  const evidence = { configuration, lease, leaseStillMs: undefined, crd: undefined };
  return signalsOf(evidence, now).map(({ text }) => text);
}
