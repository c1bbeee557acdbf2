/** What was recorded on the peer operator, replayed. */
import { testCases } from "@quartet/testing/stage";
import { describe } from "vitest";
import { playAdoption, playCase, RUN, readAdoptions, readCases } from "./replay/index.ts";

describe("recorded behaviour of the peer", () => {
  testCases({
    file: new URL("./corpus/peer-cases.jsonl", import.meta.url),
    run: RUN,
    read: readCases,
    play: playCase,
    verdicts: ["passed", "skipped"],
    titleOf: ({ name }) => name,
  });
});

describe("clusters of the peer", () => {
  testCases({
    file: new URL("./corpus/peer-adoption.jsonl", import.meta.url),
    run: RUN,
    read: readAdoptions,
    play: playAdoption,
    verdicts: ["passed"],
    titleOf: ({ name }) => `NACOS-405 NACOS-414: no pod template changes and no pod rolls: ${name}`,
  });
});
