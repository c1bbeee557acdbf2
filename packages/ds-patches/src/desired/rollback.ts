/** Which revision a rollback goes to (DSP-621 to 626). */
import type { DeepReadonly } from "@quartet/core";
import type { ControllerRevision } from "@quartet/core/kinds";
import type { NodePatch, PodTemplate } from "../api.ts";
import { isMap } from "../json.ts";
import { BASE_ONLY, REVISION_KIND, SNAPSHOT } from "./keys.ts";
import { readRevision } from "./revision-data.ts";

/** What was the whole state once. */
export interface RollbackTarget {
  readonly revision: number;
  readonly template: PodTemplate;
  readonly patches: readonly NodePatch[];
}

export type Rollback =
  | { readonly to: RollbackTarget }
  /** It is the current state. */
  | "unchanged"
  /** There is no such revision. */
  | "unknown";

type Revision = DeepReadonly<ControllerRevision>;

/**
 * @param wanted value of the annotation: a number; 0 means the one before the current
 * @param current number of the revision that the current state has
 */
export function rollbackOf(wanted: string, current: number, revisions: readonly Revision[]): Rollback {
  if (!/^[0-9]{1,18}$/.test(wanted)) return "unknown";
  const targets = revisions.flatMap(targetOf).sort((a, b) => b.revision - a.revision);
  const number = Number(wanted);
  if (number === current) return "unchanged";
  const found = targets.find(({ revision }) => (number === 0 ? revision < current : revision === number));
  return found === undefined ? "unknown" : { to: found };
}

/** A base revision that never stood alone is none. */
function targetOf({ metadata, data, revision }: Revision): RollbackTarget[] {
  const read = readRevision(data);
  const isSnapshot = metadata.labels?.[REVISION_KIND] === SNAPSHOT;
  const isBaseOnly = !isSnapshot && metadata.annotations?.[BASE_ONLY] === "true";
  if (read === undefined || isBaseOnly) return [];
  return [{ revision, template: withoutNulls(read.template) as PodTemplate, patches: read.patches ?? [] }];
}

/** Without the null that the peer's form has in each template's metadata. */
function withoutNulls(template: PodTemplate): unknown {
  if (!isMap(template.metadata)) return template;
  const metadata = Object.fromEntries(
    Object.entries(template.metadata).filter(([, value]) => value !== null),
  );
  return { ...template, metadata };
}
