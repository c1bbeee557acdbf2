/** Finds regular expressions of the source code that can take more than linear time. */
import { globSync, readFileSync } from "node:fs";
import type { AST } from "@eslint-community/regexpp";
import { RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";
import { parseSync, Visitor } from "oxc-parser";
import {
  Chars,
  getConsumedChars,
  getFirstConsumedChar,
  getLengthRange,
  isPotentiallyEmpty,
  type ReadonlyFlags,
} from "regexp-ast-analysis";
import { analyse } from "scslre";

type CharSet = ReturnType<typeof getConsumedChars>["chars"];

/** A regular expression literal, or a call of `new RegExp`, whose form cannot be known. */
export interface Expression {
  /** Path from the folder that was searched. */
  readonly file: string;
  /** As it is written. */
  readonly text: string;
  /** Why it may take more than linear time; empty when it cannot. */
  readonly faults: readonly string[];
}

/** All regular expressions in the files of a folder that match a glob pattern. */
export function expressionsIn(
  folder: string,
  pattern: string,
  isWanted: (file: string) => boolean,
): Expression[] {
  return globSync(pattern, { cwd: folder })
    .filter(isWanted)
    .sort()
    .flatMap((file) => expressionsOf(file, readFileSync(`${folder}/${file}`, "utf8")));
}

/** Regular expressions of one file. */
export function expressionsOf(file: string, source: string): Expression[] {
  const found: Expression[] = [];
  const built = (callee: object, { start, end }: { start: number; end: number }): void => {
    if (!("name" in callee) || callee.name !== "RegExp") return;
    found.push({ file, text: source.slice(start, end), faults: ["is built at run time"] });
  };
  new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      const { pattern, flags } = node.regex;
      found.push({ file, text: `/${pattern}/${flags}`, faults: faultsOf(pattern, flags) });
    },
    NewExpression: (node) => built(node.callee, node),
    CallExpression: (node) => built(node.callee, node),
  }).visit(parseSync(file, source).program);
  return found;
}

/**
 * Why an expression may take more than linear time. Within one attempt to match, that is: a repeat in a repeat, two that
 * share characters, side by side (scslre finds both), and a repeated choice between what begins alike. From one attempt
 * to the next: a repeat that has to be followed by something, in which the next attempt may begin, so that the repeat is
 * walked again from each of its characters. The check is careful: an expression without faults is linear, one with
 * faults may be linear for another reason.
 */
export function faultsOf(source: string, flagText: string): string[] {
  const parser = new RegExpParser();
  const flags = parser.parseFlags(flagText);
  const pattern = parser.parsePattern(source, 0, source.length, flags);
  const faults = analyse({ pattern, flags: flags as AST.Flags }).reports.map(
    ({ type, exponential }) => `${exponential ? "exponential" : "polynomial"} backtracking (${type})`,
  );
  visitRegExpAST(pattern, {
    onQuantifierEnter(quantifier) {
      if (quantifier.max !== Number.POSITIVE_INFINITY) return;
      if (isAmbiguousChoice(quantifier, flags)) faults.push(`the choices in ${quantifier.raw} begin alike`);
      if (!flags.sticky && startsAnew(quantifier, flags))
        faults.push(`${quantifier.raw} is walked again from each place in it`);
    },
  });
  return [...new Set(faults)];
}

function startsAnew(quantifier: AST.Quantifier, flags: ReadonlyFlags): boolean {
  const { before, after, inLookaround } = surroundings(quantifier);
  const canFail = after.some(
    (element) => element.type === "Assertion" || !isPotentiallyEmpty(element, flags),
  );
  if (!canFail && !inLookaround) return false;
  const { chars } = getConsumedChars(quantifier.element, flags);
  return !before.some((element) => fencesOff(element, chars, flags));
}

/** What stands before and after a node, in the alternatives that it lies in. */
function surroundings(node: AST.Quantifier): {
  before: AST.Element[];
  after: AST.Element[];
  inLookaround: boolean;
} {
  const before: AST.Element[] = [];
  const after: AST.Element[] = [];
  let inLookaround = false;
  for (let inner: AST.Node = node; inner.parent !== null; inner = inner.parent) {
    const { parent }: { parent: AST.Node } = inner;
    if (parent.type === "Assertion") inLookaround = true;
    if (parent.type !== "Alternative") continue;
    const index = parent.elements.indexOf(inner as AST.Element);
    before.push(...parent.elements.slice(0, index));
    after.push(...parent.elements.slice(index + 1));
  }
  return { before, after, inLookaround };
}

/** True when no attempt that passes the element can begin within a run of `chars` behind it. */
function fencesOff(element: AST.Element, chars: CharSet, flags: ReadonlyFlags): boolean {
  if (element.type !== "Assertion") return leaves(element, chars, flags);
  switch (element.kind) {
    case "start":
      return !flags.multiline || chars.isDisjointWith(Chars.lineTerminator(flags));
    case "word":
      return !element.negate && chars.isSubsetOf(Chars.word(flags));
    case "lookbehind": {
      const [only, ...others] = element.alternatives;
      if (!element.negate || only === undefined || others.length > 0) return false;
      const [char, ...more] = only.elements;
      if (char === undefined || more.length > 0 || getLengthRange(char, flags).max !== 1) return false;
      return chars.isSubsetOf(getConsumedChars(char, flags).chars);
    }
    default:
      return false;
  }
}

/** True when every match of an element holds a character that is not of `chars`. */
function leaves(element: AST.Element, chars: CharSet, flags: ReadonlyFlags): boolean {
  switch (element.type) {
    case "Character":
    case "CharacterSet":
    case "CharacterClass":
      return getConsumedChars(element, flags).chars.isDisjointWith(chars);
    case "Quantifier":
      return element.min > 0 && leaves(element.element, chars, flags);
    case "Group":
    case "CapturingGroup":
      return element.alternatives.every(({ elements }) =>
        elements.some((inner) => leaves(inner, chars, flags)),
      );
    default:
      return false;
  }
}

/** True for a repeated choice whose ways begin with the same character: a run of it can be split in many ways. */
function isAmbiguousChoice({ element }: AST.Quantifier, flags: ReadonlyFlags): boolean {
  if (element.type !== "Group" && element.type !== "CapturingGroup") return false;
  const firsts = element.alternatives.map(
    (alternative) => getFirstConsumedChar(alternative, "ltr", flags).char,
  );
  return firsts.some((first, index) => firsts.slice(index + 1).some((other) => !first.isDisjointWith(other)));
}
