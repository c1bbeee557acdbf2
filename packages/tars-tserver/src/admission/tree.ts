/** TTree: defaulting and validation (M-049, V-065 to 067). */
import type { DeepReadonly } from "@quartet/core";
import { itemsOf } from "@quartet/pod-template";
import type { TTree } from "../api.gen.ts";
import { TREE_NAME } from "../labels.ts";
import { type Denial, duplicate, invalid } from "./denial.ts";

/** The tree without references to businesses that it does not have. */
export function mutateTree(object: TTree): TTree {
  const known = new Set<unknown>(itemsOf(object.businesses).map(({ name }) => name));
  for (const app of itemsOf(object.apps)) {
    if (app.businessRef && !known.has(app.businessRef)) app.businessRef = "";
  }
  return object;
}

/** Why a new tree is refused; a namespace has one. */
export function validateNewTree(tree: DeepReadonly<TTree>, isThere: boolean): Denial {
  if (tree.metadata.name !== TREE_NAME || isThere) return "create ttree operation is defined";
  return namesDenial(tree);
}

/** Why a change of a tree is refused; `isUsed` tells of an application that has servers. */
export function validateTreeUpdate(
  now: DeepReadonly<TTree>,
  old: DeepReadonly<TTree>,
  isUsed: (app: string) => boolean,
): Denial {
  const denial = namesDenial(now);
  if (denial !== undefined) return denial;
  const kept = new Set(now.apps.map(({ name }) => name));
  const dropped = old.apps.find(({ name }) => !kept.has(name) && isUsed(name));
  if (dropped === undefined) return undefined;
  return invalid(
    "ttree",
    `cannot delete ttree/apps[${dropped.name}] because it is reference by some tserver`,
  );
}

/** Why a tree cannot be deleted by a user. */
export function treeDeletionDenial(name: string): Denial {
  return name === TREE_NAME ? "delete ttree operation is defined" : undefined;
}

function namesDenial({ businesses, apps }: DeepReadonly<TTree>): Denial {
  const business = duplicate(businesses.map(({ name }) => name));
  if (business !== undefined) return invalid("ttree", `duplicate business name : ${business}`);
  const app = duplicate(apps.map(({ name }) => name));
  return app === undefined ? undefined : invalid("ttree", `duplicate app name : ${app}`);
}
