/** Takes a step of a recorded DaemonSet case. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod } from "@quartet/core/kinds";
import { removeNode, TEST_ANNOTATIONS } from "@quartet/testing";
import type { CaseNode, CaseStep } from "./format.ts";
import { type Answer, isOn, type Place } from "./place.ts";
import { isReady, nodeOf, revisionOf } from "./pods.ts";

/** Word of the file for the node whose pod waits for its hook. */
const PREPARING = "@preparingDelete";
const HOLD = TEST_ANNOTATIONS.hold;

/** What a step needs to know of the case. */
export interface Names {
  /** Number of a revision in the file, such as `r1`. */
  numberOf(hash: string): string;
}

/** Takes the step; an answer of the API server that refuses it. */
export async function take(place: Place, step: CaseStep, names: Names): Promise<Answer | undefined> {
  switch (step.op) {
    case "create":
      return refusal(await place.create(step.object!));
    case "patch":
      return refusal(await place.patchDaemonSet(step.patch!, step.version ?? "v1beta1"));
    case "deleteDaemonSet": {
      const path = place.path("/apis/apps.kruise.io/v1beta1", "daemonsets", place.name);
      const { propagation } = step;
      await place.client.ok(
        "DELETE",
        propagation === undefined ? path : `${path}?propagationPolicy=${propagation}`,
      );
      return undefined;
    }
    case "read":
      return undefined;
    case "wait":
      return void (await sleep((step.seconds ?? 0) * 1_000));
    case "createPod":
      await place.client.ok("POST", place.path("/api/v1", "pods"), {
        apiVersion: "v1",
        kind: "Pod",
        ...step.pod,
      });
      return undefined;
    default:
      return void (await (isNodeStep(step) ? takeOnNode(place, step) : takeOnPods(place, step, names)));
  }
}

function isNodeStep({ op }: CaseStep): boolean {
  return ["addNode", "deleteNode", "labelNode", "taintNode", "cordon", "nodeReady"].includes(op);
}

async function takeOnNode(place: Place, step: CaseStep): Promise<void> {
  const node = step.node as string;
  switch (step.op) {
    case "addNode":
      return place.addNode(step.node as CaseNode);
    case "deleteNode":
      return removeNode(place.client, node);
    case "labelNode":
      return place.patchNode(node, { metadata: { labels: step.labels } });
    case "taintNode":
      return place.patchNode(node, { spec: { taints: step.taints } });
    case "cordon":
      return place.patchNode(node, { spec: { unschedulable: step.unschedulable ?? true } });
    default: {
      const value = step.status === "True" ? null : "true";
      return place.patchNode(node, { metadata: { annotations: { [TEST_ANNOTATIONS.nodeNotReady]: value } } });
    }
  }
}

async function takeOnPods(place: Place, step: CaseStep, names: Names): Promise<void> {
  const { nodes, rev } = step;
  const isMeant = (pod: Pod): boolean =>
    (nodes === "all" || nodes?.includes(nodeOf(pod)) === true) &&
    (rev === undefined || names.numberOf(revisionOf(pod)) === rev);
  switch (step.op) {
    case "ready":
      return place.patchPods(isMeant, { metadata: { annotations: { [HOLD]: null } } });
    case "unready":
      return place.patchPods((pod) => isMeant(pod) && isReady(pod), {
        metadata: { annotations: { [HOLD]: "true" } },
      });
    case "phase":
      return place.patchPods(isOn(step.node as string), { status: { phase: step.phase } }, "status");
    case "ownerVersion":
      for (const pod of await place.pods()) {
        const ownerReferences = pod.metadata.ownerReferences?.map((owner) => ({
          ...owner,
          apiVersion: step.apiVersion,
        }));
        await place.patchPods(({ metadata }) => metadata.uid === pod.metadata.uid, {
          metadata: { ownerReferences },
        });
      }
      return;
    case "labelPod":
      return place.patchPods(await isTarget(place, step), { metadata: { labels: step.labels } });
    case "patchPod":
      return place.patchPods(await isTarget(place, step), step.patch!);
    default: {
      const isOne = await isTarget(place, step);
      for (const { metadata } of (await place.pods()).filter(isOne))
        await place.client.request("DELETE", place.path("/api/v1", "pods", metadata.name));
    }
  }
}

/** The pods that a step names by their node. */
async function isTarget(place: Place, { node }: CaseStep): Promise<(pod: Pod) => boolean> {
  if (node !== PREPARING) return isOn(node as string);
  const isPreparing = ({ metadata }: Pod): boolean =>
    metadata.labels?.["lifecycle.apps.kruise.io/state"] === "PreparingDelete";
  const found = (await place.pods()).find(isPreparing);
  return (pod) => pod.metadata.uid === found?.metadata.uid;
}

function refusal(answer: Answer): Answer | undefined {
  return answer.code < 400 ? undefined : answer;
}
