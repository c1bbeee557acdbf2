/** One health check of a cluster: all ready nodes are asked at once. */
import { type ImageVersion, isAtLeast, parseVersion } from "../desired/image.ts";
import { type ApiVariant, askNode, type NodeQuery } from "./client.ts";
import { type Cluster, evaluate, type Health, type NodeAnswer, quorumFailure } from "./evaluate.ts";

/** Limit of a whole check in milliseconds. */
const CHECK_TIMEOUT_MS = 10_000;
/** First Nacos version that serves the member list at its v3 address. */
const V3_SINCE_MAJOR = 3;

export interface CheckOptions extends Omit<NodeQuery, "variants"> {
  /** Variant that worked last time. */
  readonly remembered?: ApiVariant | undefined;
  /** Version that the nodes reported, or that of the image. */
  readonly version?: ImageVersion | undefined;
}

/** Version to choose the API by: the reported one, else the image's. */
export function knownVersion(
  reported: string | undefined,
  image: ImageVersion | undefined,
): ImageVersion | undefined {
  return (reported === undefined ? undefined : parseVersion(reported)) ?? image;
}

/** Checks the cluster; the variant that worked is to be remembered for the next check. */
export async function checkCluster(
  cluster: Cluster,
  options: CheckOptions,
): Promise<{ readonly health: Health; readonly variant?: ApiVariant }> {
  const tooFew = quorumFailure(cluster);
  if (tooFew !== undefined) return { health: tooFew };
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
  const query = { ...options, signal, variants: variantOrder(options) };
  const ready = cluster.nodes.filter((node) => node.ready);
  const results = await Promise.all(ready.map((node) => askNode(node, query)));
  const byPod = new Map<string, NodeAnswer>(ready.map(({ podName }, at) => [podName, results[at]!.answer]));
  const variant = results.find((result) => result.answer.state === "members")?.variant;
  return { health: evaluate(cluster, byPod), ...(variant && { variant }) };
}

function variantOrder({ remembered, version }: CheckOptions): ApiVariant[] {
  const first = remembered ?? (isAtLeast(version, V3_SINCE_MAJOR) ? "v3" : "v1");
  return first === "v3" ? ["v3", "v1"] : ["v1", "v3"];
}
