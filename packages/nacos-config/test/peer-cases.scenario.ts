/** What was recorded on the peer operator, replayed. */
import { describe } from "vitest";
import { playAdoption, playCase, readAdoptions, readCases } from "./replay/index.ts";
import { testCases } from "./support/replayed.ts";

describe("recorded behaviour of the peer", () => {
  testCases({
    file: "peer-cases.jsonl",
    read: readCases,
    play: playCase,
    verdicts: ["passed", "skipped"],
    titleOf: ({ name }) => name,
  });
});

describe("clusters of the peer", () => {
  testCases({
    file: "peer-adoption.jsonl",
    read: readAdoptions,
    play: playAdoption,
    verdicts: ["passed"],
    titleOf: ({ name }) => `NACOS-405 NACOS-414: no pod template changes and no pod rolls: ${name}`,
  });
});
