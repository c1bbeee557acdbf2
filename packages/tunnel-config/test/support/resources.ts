/** The kinds with one counterpart each, as the scenarios that are the same for all of them need to know them. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Loose, TunnelStage } from "./stage.ts";

export interface ResourceCase {
  readonly kind: string;
  readonly plural: string;
  /** Name in the account, from that of the object. */
  readonly spec: (name: string) => Loose;
  /** What the counterpart then has. */
  readonly made: Loose;
  /** A change of the object, and what its counterpart then has. */
  readonly change: Loose;
  readonly changed: Loose;
  /** Field of the status with the identifier. */
  readonly idField: string;
  readonly ready: string;
  /** Path of the calls below the account. */
  readonly path: RegExp;
  /** The counterpart of a name, as it is stored. */
  remote(stage: TunnelStage, name: string): Loose | undefined;
  /** A counterpart that somebody else has made; with a comment where the kind has one. */
  foreign(stage: TunnelStage, name: string, comment: string): Loose;
  /** Somebody's change of the counterpart. */
  readonly drift: Loose;
  /** Field that holds the marker; absent for kinds without. */
  readonly comment?: string;
  /** What must be there first. */
  readonly before?: (stage: TunnelStage) => Promise<unknown>;
}

const ACCOUNT = "test-account-id";
const CREATED = "2026-01-01T00:00:00.000000Z";

type ListName = "networks" | "routes" | "groups" | "apps" | "rules";

const named = (list: ListName) => (stage: TunnelStage, name: string) =>
  [...stage.cloudflare.state.lists[list].values()].find((one: Loose) => one.name === name && !one.deleted_at);

function put(stage: TunnelStage, list: ListName, fields: Loose): Loose {
  const id = randomUUID();
  const stored = { id, account: ACCOUNT, created_at: CREATED, ...fields };
  stage.cloudflare.state.lists[list].set(id, stored);
  return stored;
}

export const RESOURCES: readonly ResourceCase[] = [
  {
    kind: "VirtualNetwork",
    plural: "virtualnetworks",
    spec: (name) => ({ name, comment: "hq" }),
    made: { comment: expect.stringMatching(/^\[managed-by:VirtualNetwork\/\w+\] hq$/) },
    change: { comment: "branch" },
    changed: { comment: expect.stringMatching(/^\[managed-by:VirtualNetwork\/\w+\] branch$/) },
    idField: "virtualNetworkId",
    ready: "active",
    path: /virtual_networks/,
    remote: named("networks"),
    foreign: (stage, name, comment) =>
      put(stage, "networks", { name, comment, is_default_network: false, deleted_at: null }),
    drift: { comment: "gone" },
    comment: "comment",
  },
];
