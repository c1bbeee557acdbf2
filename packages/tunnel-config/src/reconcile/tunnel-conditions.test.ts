import { expect, it } from "vitest";
import { connectorState } from "../desired/connectors.ts";
import { connectorsOf } from "./tunnel-conditions.ts";

const connector = (id: string, config_version?: number, conns = 4) => ({
  id,
  conns: Array(conns).fill({}),
  ...(config_version !== undefined && { config_version }),
});
const told = (...connectors: Parameters<typeof connectorState>[0]) =>
  connectorsOf({ sources: {}, connectors: connectorState(connectors, 7) }).map(
    ({ on, reason, message }) => `${on} ${reason}: ${message}`,
  );

it("TUN-642 says which connectors have not the configuration that the account holds", () => {
  expect(connectorsOf(undefined)).toEqual([]);
  expect(told(connector("a", 7), connector("b", 8))).toEqual(["true UpToDate: connectors at version 7: 2"]);
  expect(told(connector("b", 6), connector("a"), connector("c", 7))).toEqual([
    "false Lagging: not at version 7: 2 of 3 connectors, a, b",
  ]);
  expect(told(connector("gone", 1, 0), { id: "null", conns: null })).toEqual([
    "false NoConnectors: no cloudflared is connected",
  ]);
  const many = Array.from({ length: 9 }, (_, index) => connector(`c${index}`.padEnd(100, "x"), 1));
  const { behind, lagging } = connectorState(many, 7);
  expect([behind, lagging.length, lagging[0]?.length]).toEqual([9, 5, 64]);
});
