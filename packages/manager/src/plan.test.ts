import type { TunnelPlan } from "@quartet/tunnel-config";
import { expect, it } from "vitest";
import { planText } from "./plan.ts";

const base: TunnelPlan = {
  tunnelId: "t1",
  objects: ["ClusterTunnel/main"],
  rules: 2,
  unsent: [],
  foreign: [],
  warnings: [],
  rejected: [],
};

it("TUN-639 prints a paragraph for each tunnel, and says whether something differs", () => {
  expect(planText([], [])).toEqual({ text: "no tunnels\n", differs: false });
  expect(planText([base], [])).toEqual({
    text: "ClusterTunnel/main, tunnel t1\n  in step, rules: 2\n",
    differs: false,
  });
  const changed = {
    ...base,
    unsent: ["+ b"],
    foreign: ["- a"],
    rejected: [{ source: "Ingress/web/a", hostname: "a.b", path: "^/(", reason: "invalid regex" }],
    warnings: ["Ingress/web/b: odd"],
    lastError: "HTTP 500",
  };
  const { text, differs } = planText([changed], []);
  expect([differs, text.split("\n")]).toEqual([
    true,
    [
      "ClusterTunnel/main, tunnel t1",
      "  changed in the account by somebody else:",
      "    - a",
      "  to be transmitted:",
      "    + b",
      "  left out: a.b^/( of Ingress/web/a: invalid regex",
      "  warning: Ingress/web/b: odd",
      "  the last transmission failed: HTTP 500",
      "",
    ],
  ]);
  const none = { ...base, tunnelId: "", objects: ["Tunnel/web/new"], problem: "has no tunnel yet" };
  expect(planText([none], [])).toEqual({ text: "Tunnel/web/new\n  has no tunnel yet\n", differs: true });
});

it("TUN-663 says that a tunnel is held at a former version", () => {
  const { text, differs } = planText([{ ...base, unsent: ["+ b"], held: "held at version 3" }], []);
  expect([text, differs]).toEqual([
    "ClusterTunnel/main, tunnel t1\n  held at version 3\n  to be transmitted:\n    + b\n",
    true,
  ]);
});

it("TUN-639 looks at the tunnels that are named alone", () => {
  const other = { ...base, tunnelId: "t2", objects: [], foreign: ["+ x"] };
  expect(planText([base, other], ["ClusterTunnel/main"]).differs).toBe(false);
  expect(planText([base, other], ["t2"])).toMatchObject({
    text: expect.stringMatching(/^tunnel t2\n/),
    differs: true,
  });
  expect(() => planText([base, other], ["Tunnel/x/y"])).toThrow(
    "there is no tunnel Tunnel/x/y; there are: ClusterTunnel/main, t2",
  );
});
