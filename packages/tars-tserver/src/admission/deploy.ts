/** TDeploy: defaulting and validation (M-050, M-051, V-075 to 078). */
import { type DeepReadonly, sameJson } from "@quartet/core";
import { isMap } from "@quartet/pod-template";
import type { TDeploy } from "../api.gen.ts";
import { APPROVE_LABEL } from "../labels.ts";
import { type Denial, immutable } from "./denial.ts";
import { setLabels } from "./labels.ts";

/** The request with the label of its state; a new one is neither approved nor deployed. */
export function mutateDeploy(object: TDeploy, isNew: boolean): TDeploy {
  if (isNew) {
    delete object.approve;
    delete object.deployed;
  }
  const { approve } = object;
  const state = !isMap(approve) ? "Pending" : approve.result ? "Approved" : "Reject";
  setLabels(object, { [APPROVE_LABEL]: state });
  return object;
}

/** What is known of the server that is asked for. */
export interface DeployFacts {
  readonly namespace: string;
  /** Name of the TServer. */
  readonly target: string;
  readonly targetExists: boolean;
  /** Why the server would be refused; asked only when it matters. */
  serverDenial(): Denial;
  /** The controller itself asks. */
  readonly isOperator: boolean;
}

/** Why a new request is refused. */
export function validateNewDeploy({ approve, deployed }: DeepReadonly<TDeploy>, facts: DeployFacts): Denial {
  if (approve !== undefined) return 'can not set "/approve" when create';
  if (deployed !== undefined) return 'can not set "/deployed" when create';
  return existsDenial(facts);
}

/** Why a change of a request is refused. */
export function validateDeployUpdate(
  now: DeepReadonly<TDeploy>,
  old: DeepReadonly<TDeploy>,
  facts: DeployFacts,
): Denial {
  if (old.approve !== undefined) {
    const changed = (["approve", "apply"] as const).find((field) => !sameJson(now[field], old[field]));
    if (changed !== undefined) return immutable("tserver", `/${changed}`);
  }
  if (now.deployed !== old.deployed && !facts.isOperator) {
    return 'only use authorized account can set "/deployed" field';
  }
  if (old.approve !== undefined || now.approve?.result !== true) return undefined;
  return existsDenial(facts) ?? facts.serverDenial();
}

function existsDenial({ namespace, target, targetExists }: DeployFacts): Denial {
  return targetExists ? `tserver ${namespace}/${target} already exists` : undefined;
}
