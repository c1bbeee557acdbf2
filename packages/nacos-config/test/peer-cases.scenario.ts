/** What was recorded on the peer operator, replayed. */
import { describe } from "vitest";
import { testCases } from "./support/replayed.ts";

describe("recorded behaviour of the peer", () => {
  testCases("peer-cases", ["passed", "skipped"], ({ name }) => name);
});
