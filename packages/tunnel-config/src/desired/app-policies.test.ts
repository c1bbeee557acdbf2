import { describe, expect, it } from "vitest";
import {
  policiesProblem,
  policyList,
  policyPlan,
  type RemotePolicy,
  wantedPolicies,
} from "./app-policies.ts";

const everyone = [{ everyone: true }];
const resolved = {
  groups: new Map<number, string>(),
  reusableGroups: [] as string[],
  reusable: [] as string[],
  providerOf: () => undefined,
};
const remote = (name: string, more: Partial<RemotePolicy> = {}): RemotePolicy => ({
  id: `id-${name}`,
  name,
  decision: "allow",
  precedence: 1,
  include: [{ everyone: {} }],
  ...more,
});

describe("policies of an application", () => {
  it("TUN-938 are in the order of the list unless they say otherwise, groups before rules", () => {
    const spec = {
      domain: "x",
      policies: [
        { name: "staff", include: everyone },
        { include: everyone, decision: "deny" as const, precedence: 7 },
      ],
      reusablePolicyRefs: [{ cloudflareId: "p" }],
      reusableGroupRefs: [{ name: "guests" }],
    };
    const groups = new Map([[0, "g-1"]]);
    expect(
      wantedPolicies("app", spec, { ...resolved, groups, reusable: ["p"], reusableGroups: ["g-2"] }),
    ).toEqual({
      own: [
        {
          name: "app 1",
          decision: "allow",
          precedence: 1,
          include: [{ group: { id: "g-1" } }, { everyone: {} }],
        },
        { name: "app 7", decision: "deny", precedence: 7, include: [{ everyone: {} }] },
        { name: "app groups", decision: "allow", precedence: 8, include: [{ group: { id: "g-2" } }] },
      ],
      reusable: [{ id: "p", precedence: 3 }],
    });
  });

  it("TUN-937 TUN-938 those of the application alone are known by name; what lets in goes first, what keeps out comes first and goes last", () => {
    const { own } = wantedPolicies(
      "app",
      {
        domain: "x",
        policies: [
          { policyName: "same", include: everyone },
          { policyName: "new", include: everyone, precedence: 2 },
          { policyName: "keep-out", include: everyone, decision: "deny", precedence: 3 },
          { policyName: "other", include: [{ certificate: true }], precedence: 4 },
        ],
      },
      resolved,
    );
    const there = [
      remote("same"),
      remote("other", { precedence: 4 }),
      remote("old"),
      remote("old-deny", { decision: "deny" }),
      remote("shared", { reusable: true }),
    ];
    const plan = policyPlan(there, own, true);
    expect(plan.create.map(({ name }) => name)).toEqual(["keep-out", "new"]);
    expect(plan.change.map(({ id }) => id)).toEqual(["id-other"]);
    expect([plan.removeFirst, plan.removeLast]).toEqual([["id-old"], ["id-old-deny"]]);
  });

  it("TUN-937 a PUT keeps all policies that the spec leaves to others", () => {
    const there = [remote("own"), remote("shared", { reusable: true, precedence: 2 })];
    expect(policyList(there, undefined).map(({ id }) => id)).toEqual(["id-own", "id-shared"]);
    const wanted = { own: [], reusable: [{ id: "p", precedence: 5 }] };
    expect(policyList(there, wanted).map(({ id }) => id)).toEqual(["id-own", "p"]);
  });

  it.each([
    [[{}], "policies[0]: says nobody"],
    [[{ name: "a", groupId: "b" }], "at most one of name, groupId and cloudflareGroupName"],
    [[{ include: [{}] }], "policies[0].include[0]: a rule has exactly one key"],
    [[1, 2].map(() => ({ policyName: "x", include: everyone })), "policies[1].policyName: x"],
    [[1, 2].map(() => ({ precedence: 4, include: everyone })), "policies[1].precedence: 4"],
  ])("TUN-938 %j is refused with its place", (policies, message) => {
    expect(policiesProblem({ domain: "x", policies })).toContain(message);
  });
});
