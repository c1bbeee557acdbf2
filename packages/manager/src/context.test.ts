import { describe, expect, it } from "vitest";
import { loadSettings } from "./config/load.ts";
import { electsLeader, leaseNamespace, ownNamespace, rightsOptions } from "./context.ts";

const inCluster = { source: "in-cluster", namespace: "pod-ns" };
const kubeconfig = { source: "kubeconfig /x, context y", namespace: "context-ns" };
const settingsOf = async (...args: string[]) =>
  (await loadSettings({ args, env: {}, modules: [{ name: "echo", aliases: [], flags: [] }] })).settings;

describe("where the program runs", () => {
  it.each([
    ["auto", inCluster, true],
    ["auto", kubeconfig, false],
    ["true", kubeconfig, true],
    ["false", inCluster, false],
  ])("CORE-261 with --leader-elect=%s and %j elects a leader: %s", async (flag, connection, elects) => {
    expect(electsLeader(await settingsOf(`--leader-elect=${flag}`), connection)).toBe(elects);
  });

  it("CORE-251 takes the Lease's namespace from the flag, else from the pod, never from a kubeconfig's context", async () => {
    const byFlag = await settingsOf("--leader-election-namespace=ops");
    expect(leaseNamespace(byFlag, inCluster)).toBe("ops");
    expect(leaseNamespace(byFlag, kubeconfig)).toBe("ops");
    const plain = await settingsOf();
    expect(leaseNamespace(plain, inCluster)).toBe("pod-ns");
    expect(ownNamespace(plain, kubeconfig)).toBeUndefined();
    expect(() => leaseNamespace(plain, kubeconfig)).toThrow(/^leader election namespace unknown/);
  });

  it("needs rights for what is switched on", async () => {
    expect(rightsOptions(await settingsOf("--metrics-secure", "--release-name=r"), true)).toEqual({
      release: "r",
      leaseName: "quartet-manager",
      webhooks: true,
      ownCertificates: true,
      metricsSecure: true,
      flags: {},
      namespaces: [],
    });
    const off = [
      "--metrics-secure",
      "--metrics-bind-address=0",
      "--webhook-port=-1",
      "--webhook-cert-mode=files",
    ];
    expect(rightsOptions(await settingsOf(...off), false)).toEqual({
      release: "quartet",
      webhooks: false,
      ownCertificates: false,
      metricsSecure: false,
      flags: {},
      namespaces: [],
    });
  });
});
