import { describe, expect, it } from "vitest";
import { echoServer } from "../fixtures.testkit.ts";
import { modelOf } from "./model.ts";
import { containerPorts, type PortStyle } from "./ports.ts";

/** Container ports of a server with one servant on the node, as `name port[:hostPort]`. */
function portsOf(
  style: PortStyle,
  { hostPorts = [{ nameRef: "firstobj", port: 3323 }], hostNetwork = false } = {},
) {
  const tars = {
    template: "tt.cpp",
    servants: [
      { name: "FirstObj", port: 10000 },
      { name: "AServantOfALongName", port: 10001, isTcp: false },
    ],
    ports: [{ name: "admin", port: 9000 }],
  };
  const server = echoServer({ tars, k8s: { hostPorts, hostNetwork } });
  return containerPorts(modelOf(server), style).map(({ name, containerPort, hostPort }) =>
    [name, containerPort, hostPort].filter((part) => part !== undefined).join(" "),
  );
}

describe("ports of the container", () => {
  it("TARS-MAP-050 TARS-MAP-051 TARS-MAP-052 TARS-MAP-053 have the names of the servants where these are legal", () => {
    expect(portsOf("seed")).toEqual(["firstobj 10000 3323", "p10001 10001", "admin 9000"]);
    const both = { hostPorts: [{ nameRef: "AServantOfALongName", port: 3324 }] };
    expect(portsOf("seed", both)).toEqual(["firstobj 10000", "p3324-10001 10001 3324", "admin 9000"]);
  });

  it("TARS-MAP-056 in the peer's style are those of servants on the node, and the further ones", () => {
    expect(portsOf("peer")).toEqual(["p3323-10000 10000 3323", "admin 9000"]);
    expect(portsOf("peer", { hostPorts: [] })).toEqual(["admin 9000"]);
  });

  it("TARS-MAP-054 TARS-MAP-057 have no port of the node beside the node's network, or without an entry", () => {
    expect(portsOf("seed", { hostNetwork: true })).toEqual(["firstobj 10000", "p10001 10001", "admin 9000"]);
    expect(portsOf("seed", { hostPorts: [] })).toEqual(["firstobj 10000", "p10001 10001", "admin 9000"]);
  });
});
