import type { Pod } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { PATCHES_APPLIED, PATCHES_HASH, REVISION_KIND, REVISION_LABEL, SNAPSHOT } from "../desired/keys.ts";
import type { Revision } from "./history.ts";
import { surplusRevisions } from "./history-limit.ts";

function base(revision: number): Revision {
  const metadata = { name: `agent-b${revision}`, labels: { [REVISION_LABEL]: `b${revision}` } };
  return { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, revision };
}

function snapshot(revision: number, list: string): Revision {
  const labels = { [REVISION_LABEL]: `s${revision}`, [REVISION_KIND]: SNAPSHOT };
  const metadata = { name: `agent-s${revision}`, labels, annotations: { [PATCHES_HASH]: list } };
  return { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, revision };
}

function pod(revision: string, list = ""): Pod {
  const annotations: Record<string, string> = list === "" ? {} : { [PATCHES_APPLIED]: `${list}/0` };
  return { apiVersion: "v1", kind: "Pod", metadata: { labels: { [REVISION_LABEL]: revision }, annotations } };
}

interface Given {
  readonly revisions: readonly Revision[];
  readonly pods?: readonly Pod[];
  readonly limit: number;
  readonly current?: string;
  readonly duplicates?: readonly Revision[];
}

const surplus = ({ revisions, pods = [], limit, current = "", duplicates = [] }: Given): number[] =>
  surplusRevisions(
    { revisions, duplicates, revision: current || "b4", patchRevision: current || "s4" },
    pods,
    limit,
  ).map(({ revision }) => revision);

describe("the history limit", () => {
  const bases = [base(4), base(1), base(3), base(2)];

  it("DSP-618 the oldest go first, and the current one does not count", () => {
    expect(surplus({ revisions: bases, limit: 3 })).toEqual([]);
    expect(surplus({ revisions: bases, limit: 1 })).toEqual([1, 2]);
    expect(surplus({ revisions: bases, limit: 1, current: "b1" })).toEqual([2, 3]);
  });

  it("DSP-618 DSP-619 a revision that a pod has stays, and counts among those that are kept", () => {
    expect(surplus({ revisions: bases, pods: [pod("b1")], limit: 1 })).toEqual([2, 3]);
    expect(surplus({ revisions: bases, pods: [pod("b1")], limit: 2 })).toEqual([2]);
    expect(surplus({ revisions: bases, pods: [pod("b1"), pod("b3")], limit: 0 })).toEqual([2]);
  });

  it("DSP-618 of each list of patches that a pod has the newest snapshot stays", () => {
    const revisions = [snapshot(1, "x"), snapshot(2, "y"), snapshot(3, "y"), snapshot(4, "z")];
    expect(surplus({ revisions, pods: [pod("b", "x"), pod("b", "y")], limit: 0 })).toEqual([2]);
    expect(surplus({ revisions, pods: [pod("b", "z")], limit: 0 })).toEqual([1, 2, 3]);
    const unchanged = [1, 2, 3, 4].map((revision) => snapshot(revision, "x"));
    expect(surplus({ revisions: unchanged, pods: [pod("b", "x")], limit: 1 })).toEqual([1, 2]);
  });

  it("DSP-618 DSP-628 snapshots and bases have the limit each, and doubles that are merged have no part", () => {
    const revisions = [base(1), snapshot(2, "x"), base(3), snapshot(4, "y"), base(5)];
    expect(surplus({ revisions, limit: 1, current: "b5" })).toEqual([2, 1]);
    expect(surplus({ revisions: bases, limit: 2, duplicates: [bases[3]!] })).toEqual([]);
  });
});
