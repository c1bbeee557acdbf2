/** The kinds of corpus: how a file of each kind is played. Formats: docs/reference/corpora.md. */
import { differenceOf, type TemplateCase } from "@quartet/confd-agent/testkit";
import { type RevisionCase, revisionDifference } from "@quartet/ds-patches/testkit";
import { parseProperties } from "@quartet/nacos-config/properties";
import { strategicMerge } from "@quartet/strategic-merge";
import { playIngressCase } from "@quartet/tunnel-ingress/testkit";
import { playDaemonSetCases, playDryRunCases } from "./daemonset.ts";
import { compare, type Engine, playAll } from "./engine.ts";
import { playNacosAdoptions, playNacosCases } from "./nacos.ts";
import { playTarsCases } from "./tars.ts";
import { playTunnelCases } from "./tunnel.ts";

export interface CorpusFile {
  /** As the user gave it, for messages. */
  readonly name: string;
  readonly text: string;
}

export interface CorpusOptions {
  /** On a real control plane rather than the double. */
  readonly real: boolean;
}

export interface CorpusKind {
  /** Whether `--real` means anything. */
  readonly hasTargets: boolean;
  /** Plays the file, prints each failure and as the last line the count; whether none failed. */
  play(file: CorpusFile, options: CorpusOptions): Promise<boolean>;
}

const engine = (play: Engine): CorpusKind => ({ hasTargets: false, play: async (file) => playAll(file, play) });

/** Kinds by the name given on the command line. */
export const CORPUS_KINDS: Readonly<Record<string, CorpusKind>> = {
  daemonset: { hasTargets: true, play: playDaemonSetCases },
  "daemonset-dry-run": { hasTargets: true, play: playDryRunCases },
  "daemonset-revisions": engine((testCase) => revisionDifference(testCase as unknown as RevisionCase)),
  "go-template": engine((testCase) => differenceOf(testCase as unknown as TemplateCase)),
  nacos: { hasTargets: true, play: playNacosCases },
  "nacos-adoption": { hasTargets: true, play: playNacosAdoptions },
  properties: engine((testCase) =>
    compare(testCase, "effective", () => Object.fromEntries(parseProperties(String(testCase.text)))),
  ),
  tars: { hasTargets: true, play: playTarsCases },
  "strategic-merge": engine((testCase) =>
    compare(testCase, "result", () => strategicMerge("PodTemplateSpec", testCase.base, testCase.patch)),
  ),
  tunnel: { hasTargets: true, play: playTunnelCases },
  "tunnel-ingress": engine(playIngressCase),
};
