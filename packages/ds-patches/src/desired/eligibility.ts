/** On which nodes a template may run (DSP-717 to 723). */
import type { JsonMap } from "@quartet/strategic-merge";
import type { LabelSelector, Labels, PodTemplate } from "../api.ts";
import { mapOf } from "../json.ts";
import type { NodeFacts, Toleration } from "./objects.ts";
import { compileSelector, type LabelMatcher } from "./selector.ts";
import { tolerates, withDefaultTolerations } from "./tolerations.ts";

export interface Eligibility {
  /** A new pod may be created there. */
  readonly shouldRun: boolean;
  /** A pod that is there may stay. */
  readonly shouldContinue: boolean;
}

const NOWHERE: Eligibility = { shouldRun: false, shouldContinue: false };
const SET_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];
/** Whole numbers that `Gt` and `Lt` compare, as the server reads them. */
const INTEGER = /^[+-]?[0-9]{1,18}$/;

/** The question of a template, ready to be asked for many nodes. */
export function compileEligibility({ spec = {} }: PodTemplate): (node: NodeFacts) => Eligibility {
  const tolerations = withDefaultTolerations(listOf<Toleration>(spec.tolerations), spec.hostNetwork === true);
  const labels = compileSelector({ matchLabels: mapOf(spec.nodeSelector) as Record<string, string> });
  const terms = requiredTerms(spec);
  return (node) => {
    if (typeof spec.nodeName === "string" && spec.nodeName !== "" && spec.nodeName !== node.name)
      return NOWHERE;
    if (!labels?.(node.labels)) return NOWHERE;
    if (terms !== undefined && !terms.some((matches) => matches(node))) return NOWHERE;
    const unbearable = node.taints.filter(
      (taint) => taint.effect !== "PreferNoSchedule" && !tolerates(tolerations, taint),
    );
    return {
      shouldRun: unbearable.length === 0,
      shouldContinue: unbearable.every(({ effect }) => effect !== "NoExecute"),
    };
  };
}

type NodeMatcher = (node: NodeFacts) => boolean;

/** Terms of the required node affinity, of which one must match; `undefined` without any requirement. */
function requiredTerms(spec: JsonMap): NodeMatcher[] | undefined {
  const required = mapOf(mapOf(spec.affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined || required === null) return undefined;
  return listOf<JsonMap>(mapOf(required).nodeSelectorTerms).map(compileTerm);
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** An empty term, and one that cannot be read, match nothing. */
function compileTerm(term: JsonMap): NodeMatcher {
  const expressions = listOf<Requirement>(term.matchExpressions).map(compileRequirement);
  const fields = listOf<Requirement>(term.matchFields).map(compileField);
  if (expressions.length + fields.length === 0) return () => false;
  return (node) =>
    expressions.every((matches) => matches?.(node.labels) === true) &&
    fields.every((matches) => matches?.({ "metadata.name": node.name }) === true);
}

function compileRequirement(requirement: Requirement): LabelMatcher | undefined {
  const { key, operator, values = [] } = requirement;
  if (SET_OPERATORS.includes(operator)) return selectorOf(requirement);
  const [bound] = values;
  if (!["Gt", "Lt"].includes(operator) || values.length !== 1 || !INTEGER.test(bound ?? "")) return undefined;
  const limit = BigInt(bound!);
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key]! : "";
    if (!INTEGER.test(value)) return false;
    return operator === "Gt" ? BigInt(value) > limit : BigInt(value) < limit;
  };
}

function compileField(requirement: Requirement): LabelMatcher | undefined {
  const known = requirement.key === "metadata.name" && ["In", "NotIn"].includes(requirement.operator);
  if (!known || requirement.values?.length !== 1) return undefined;
  const isName = (names: Labels): boolean => names["metadata.name"] === requirement.values![0];
  return requirement.operator === "In" ? isName : (names) => !isName(names);
}

function selectorOf(requirement: Requirement): LabelMatcher | undefined {
  const selector: LabelSelector = { matchExpressions: [requirement] };
  return compileSelector(selector);
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
