import { expect, it } from "vitest";
import { type Mode, nextMode } from "./mode.ts";
import type { SignalId } from "./signals.ts";

const next = (flag: "auto" | "owner" | "companion", current: Mode, ids: SignalId[], isDefined = true) =>
  nextMode(flag, current, { signals: ids.map((id) => ({ id, text: id })), isDefined });

it.each<[string, "auto" | "owner" | "companion", Mode, SignalId[], boolean, Mode]>([
  ["DSP-103 no sign: owner", "auto", "waiting", [], true, "owner"],
  ["DSP-103 no definition: waits", "auto", "waiting", [], false, "waiting"],
  ["DSP-103 S1: companion", "auto", "waiting", ["webhook"], true, "companion"],
  ["DSP-103 S2: companion", "auto", "waiting", ["lease"], true, "companion"],
  ["DSP-103 S3: companion", "auto", "waiting", ["crd"], true, "companion"],
  ["DSP-104 S1 blocks an owner by flag", "owner", "waiting", ["webhook"], true, "blocked"],
  ["DSP-104 S2 blocks an owner by flag", "owner", "waiting", ["lease", "crd"], true, "blocked"],
  ["DSP-104 S1 before there is a definition", "owner", "waiting", ["webhook"], false, "blocked"],
  ["DSP-105 S3 blocks an owner by flag", "owner", "waiting", ["crd"], true, "blocked"],
  ["DSP-105 an adopted definition frees it", "owner", "blocked", [], true, "owner"],
  ["DSP-106 a companion needs no sign", "companion", "waiting", [], true, "companion"],
  ["DSP-107 an owner yields to S1", "auto", "owner", ["webhook"], true, "companion"],
  ["DSP-107 an owner by flag yields to S2", "owner", "owner", ["lease"], true, "companion"],
  ["DSP-107 under a foreign definition an owner rests", "auto", "owner", ["crd"], true, "blocked"],
  ["DSP-107 a rest ends with our definition", "auto", "blocked", [], true, "owner"],
  ["DSP-107 at rest it yields as well", "auto", "blocked", ["crd", "lease"], true, "companion"],
  ["DSP-107 without the kind an owner waits", "auto", "owner", [], false, "waiting"],
  ["DSP-109 DSP-110 a companion stays one", "auto", "companion", [], true, "companion"],
])("%s", (_rule, flag, current, ids, isDefined, mode) => {
  expect(next(flag, current, ids, isDefined)).toBe(mode);
});
