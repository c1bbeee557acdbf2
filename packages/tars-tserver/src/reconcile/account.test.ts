import type { ReconcileContext } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { createAccountReconcile } from "./account.ts";

it.each([
  ["soon", [5_000], [], 5_000],
  ["in a year: the clock may jump until then", [31_536_000_000], [], 60_000],
  ["that is over, and another one", [-1, 3_000], [[3_000]], 3_000],
  ["that is over, and no other", [-1], [[]], undefined],
])("TARS-R-090 an account with a token whose end is %s", async (_when, ends, expected, wait) => {
  const clock = fakeClock();
  const token = (left: number) => ({ name: "t", expirationTime: new Date(clock.now() + left).toISOString() });
  const written: unknown[] = [];
  const result = await createAccountReconcile(clock)({ namespace: "ns1", name: "a" }, {
    signal: new AbortController().signal,
    cache: {
      get: async () => ({ metadata: { name: "a" }, spec: { authentication: { tokens: ends.map(token) } } }),
    },
    client: {
      patch: async (_kind: object, _key: object, { body }: { body: { spec: object } }) =>
        written.push(body.spec),
    },
  } as unknown as ReconcileContext);
  expect(written).toEqual(expected.map((kept) => ({ authentication: { tokens: kept.map(token) } })));
  expect(result).toEqual(wait === undefined ? undefined : { requeueAfter: wait, exact: true });
});
