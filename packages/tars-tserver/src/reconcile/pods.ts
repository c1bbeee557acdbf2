/** Pods by the server that their labels name. */
import type { DeepReadonly, SourceReader } from "@quartet/core";
import type { Pod } from "../desired/k8s.ts";
import { POD } from "../kinds.ts";
import { APP_LABEL, SERVER_LABEL } from "../labels.ts";

/** Index that {@link podsOf} needs. */
export const POD_INDEX = "tars-server";

/** Values of the index. */
export function podIndex({ metadata: { namespace, labels } }: DeepReadonly<Pod>): string[] {
  return [indexValue(namespace, labels?.[APP_LABEL], labels?.[SERVER_LABEL])];
}

function indexValue(...parts: readonly (string | undefined)[]): string {
  return parts.join("/");
}

/** Pods with both labels of a server. */
export function podsOf(
  cache: SourceReader,
  namespace: string,
  app: string,
  server: string,
): readonly DeepReadonly<Pod>[] {
  return cache.byIndex(POD, POD_INDEX, indexValue(namespace, app, server));
}
