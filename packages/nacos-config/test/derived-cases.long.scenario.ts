/**
 * Cases in the form of the recorded ones, with what the product's own rules give: for each recorded case in which it
 * decides otherwise than the peer, and for variations of the others.
 */
import { testCases } from "@quartet/testing/stage";
import { describe } from "vitest";
import { playCase, RUN, readCases } from "./replay/index.ts";

describe("behaviour by the product's rules", () => {
  testCases({
    file: new URL("./corpus/derived-cases.jsonl", import.meta.url),
    run: RUN,
    read: readCases,
    play: playCase,
    verdicts: ["passed"],
    titleOf: ({ name, rules }) => `${rules.join(" ")}: ${name}`,
  });
});
