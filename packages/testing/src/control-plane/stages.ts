/**
 * How kwok plays kubelet: stages of our own.
 *
 * A pod on a kwok node runs and gets ready at once. Unlike kwok's published stages these leave readiness gates to
 * whoever owns them, compute Ready from the gates as a kubelet does, follow in-place updates, and leave pods with
 * finalizers alone. Annotations steer a pod or node in a test.
 */
import { stringify } from "yaml";
import { NODE_STAGES } from "./node-stages.ts";
import { POD_STAGES } from "./pod-stages.ts";
import type { Stage } from "./stage.ts";

/** Text of kwok's configuration file: stages alone, since a `KwokConfiguration` would replace all defaults. */
export function kwokConfig(): string {
  return [...NODE_STAGES, ...POD_STAGES].map((stage) => stringify(stageDocument(stage))).join("---\n");
}

function stageDocument(stage: Stage): object {
  const delay = {
    ...stage.delay,
    ...(stage.delayFrom === undefined ? {} : { durationFrom: { expressionFrom: stage.delayFrom } }),
  };
  return {
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind: "Stage",
    metadata: { name: stage.name },
    spec: {
      resourceRef: { apiGroup: "v1", kind: stage.kind },
      selector: { matchExpressions: stage.when },
      ...(Object.keys(delay).length > 0 ? { delay } : {}),
      next: stage.next,
    },
  };
}
