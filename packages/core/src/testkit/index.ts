/** `@quartet/core/testkit`: time by hand, and proof that a reconcile may be killed at any moment, for tests of controllers. */

export { type CrashOptions, type CrashReport, crashAtEveryCall } from "./crash-at-every-call.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { CrashError, type CrashPoint, type TestProcess } from "./killable-process.ts";
export { nested } from "./nested.ts";
export { liveCache, testContext } from "./test-context.ts";
export { expectLinear, textOf, worstTexts } from "./worst-input.ts";
