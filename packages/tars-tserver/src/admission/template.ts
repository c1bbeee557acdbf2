/** TTemplate: defaulting and validation (M-040, V-055 to 058). */
import type { DeepReadonly } from "@quartet/core";
import type { TTemplate } from "../api.gen.ts";
import { PARENT_LABEL } from "../labels.ts";
import { type Denial, invalid, missing } from "./denial.ts";
import { setLabels } from "./labels.ts";

/** The template with the label of its parent; a root has none. */
export function mutateTemplate(object: TTemplate): TTemplate {
  const parent = object.spec?.parent;
  setLabels(object, { [PARENT_LABEL]: parent && parent !== object.metadata.name ? parent : undefined });
  return object;
}

/** What is known of the templates of a namespace. */
export interface TemplateFacts {
  readonly namespace: string;
  /** Parent of a template; `undefined` when there is no such template. */
  parentOf(name: string): string | undefined;
}

/** Why a template is refused. */
export function validateTemplate({ metadata, spec }: DeepReadonly<TTemplate>, facts: TemplateFacts): Denial {
  const { name = "" } = metadata;
  const { parent } = spec;
  if (!parent) return invalid("ttemplate", 'value of filed ".spec.parent" should not empty ');
  if (parent === name) return undefined;
  if (facts.parentOf(parent) === undefined) return missing("ttemplate", facts.namespace, parent);
  const chain = new Set([name]);
  // Each step visits another template, so that it ends in a chain of any form.
  for (let at: string | undefined = parent; at !== undefined && !chain.has(at); at = facts.parentOf(at)) {
    chain.add(at);
    if (facts.parentOf(at) === name) return cycleDenial([...chain, name]);
  }
  return undefined;
}

/** Templates that are shown of a long chain. */
const SHOWN = 10;

function cycleDenial(chain: readonly string[]): string {
  const shown = chain.length > SHOWN ? [...chain.slice(0, SHOWN), "...", chain.at(-1)] : chain;
  return `ttemplate resource is invalid : spec.parent makes a cycle: ${shown.join(" -> ")}`;
}

/** Why a template cannot be deleted. */
export function templateDeletionDenial(
  name: string,
  users: { readonly namespace: string; readonly children: boolean; readonly servers: boolean },
): Denial {
  const because = users.children ? "ttemplate" : users.servers ? "tserver" : undefined;
  if (because === undefined) return undefined;
  return `cannot delete ttemplate ${users.namespace}/${name} because it is reference by some ${because}`;
}
