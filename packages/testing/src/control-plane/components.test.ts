import { describe, expect, it } from "vitest";
import { COMPONENTS, type ComponentSettings, componentArguments } from "./components.ts";

const settings: ComponentSettings = {
  workDir: "/work",
  ports: { etcdClient: 1, etcdPeer: 2, apiserver: 3, controllerManager: 4, scheduler: 5, kwok: 6 },
  controllerManager: true,
  podCidr: "127.1.0.0/16",
  audit: true,
  featureGates: {},
  benchmark: false,
  etcdArgs: [],
  apiserverArgs: [],
  schedulerArgs: [],
};

describe("start arguments", () => {
  it("CORE-442 let every component listen on 127.0.0.1 and its own port only", () => {
    const listeners = {
      etcd: ["--listen-client-urls=http://127.0.0.1:1", "--listen-peer-urls=http://127.0.0.1:2"],
      "kube-apiserver": ["--bind-address=127.0.0.1", "--secure-port=3"],
      "kube-controller-manager": ["--bind-address=127.0.0.1", "--secure-port=4"],
      "kube-scheduler": ["--bind-address=127.0.0.1", "--secure-port=5"],
      kwok: ["--server-address=127.0.0.1:6"],
    };
    for (const name of COMPONENTS) {
      const args = componentArguments(name, settings);
      expect(args).toEqual(expect.arrayContaining(listeners[name]));
      const listening = args.filter((arg) => /^--(listen-|bind-|secure-|server-address)/.test(arg));
      expect(listening.sort()).toEqual(listeners[name].sort());
    }
  });

  it("give the API server node authorization and ServiceAccount admission with the controller manager only", () => {
    const full = componentArguments("kube-apiserver", settings);
    expect(full).toContain("--authorization-mode=Node,RBAC");
    expect(full.join(" ")).not.toContain("--disable-admission-plugins");
    const lean = componentArguments("kube-apiserver", { ...settings, controllerManager: false });
    expect(lean).toContain("--authorization-mode=RBAC");
    expect(lean).toContain("--disable-admission-plugins=ServiceAccount");
  });

  it("turn limits off for benchmarks, and pass on feature gates and further arguments", () => {
    const args = componentArguments("kube-apiserver", {
      ...settings,
      benchmark: true,
      audit: false,
      featureGates: { WatchList: false, Other: true },
      apiserverArgs: ["--watch-cache=false"],
    });
    expect(args).toEqual(
      expect.arrayContaining([
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--enable-priority-and-fairness=false",
        "--feature-gates=WatchList=false,Other=true",
        "--watch-cache=false",
      ]),
    );
    expect(args.join(" ")).not.toContain("--audit");
    const benchmark = { ...settings, benchmark: true };
    const own = { ...benchmark, schedulerArgs: ["--kube-api-qps=50"] };
    const rates = componentArguments("kube-scheduler", own).filter((one) => one.startsWith("--kube-api-qps"));
    expect(rates).toEqual(["--kube-api-qps=1000", "--kube-api-qps=50"]);
    expect(componentArguments("kwok", benchmark)).toContain("--node-lease-duration-seconds=0");
    const etcd = componentArguments("etcd", { ...settings, etcdArgs: ["--log-level=warn"] });
    expect(etcd.at(-1)).toBe("--log-level=warn");
  });

  it("give kwok the range of pod addresses", () => {
    expect(componentArguments("kwok", settings)).toContain("--cidr=127.1.0.0/16");
  });
});
