/**
 * Cases in the form of the recorded ones, with what the product's own rules give: for each recorded case in which it
 * decides otherwise than the peer, and for variations of the others.
 */
import { describe } from "vitest";
import { playCase, readCases } from "./replay/index.ts";
import { testCases } from "./support/replayed.ts";

describe("behaviour by the product's rules", () => {
  testCases({
    file: "derived-cases.jsonl",
    read: readCases,
    play: playCase,
    verdicts: ["passed"],
    titleOf: ({ name, rules }) => `${rules.join(" ")}: ${name}`,
  });
});
