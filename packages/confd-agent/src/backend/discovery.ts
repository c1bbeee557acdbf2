/** Nodes of a backend: as configured, from SRV records, or the defaults. */
import { resolveSrv } from "node:dns/promises";
import type { BackendSettings, Environment } from "../config/settings.ts";
import { ConfigError, messageOf } from "../errors.ts";

/** Where servers listen unless told otherwise. */
const DEFAULT_NODES: Readonly<Record<string, string>> = {
  consul: "127.0.0.1:8500",
  etcd: "127.0.0.1:2379",
  etcdv3: "127.0.0.1:2379",
  redis: "127.0.0.1:6379",
  vault: "http://127.0.0.1:8200",
  zookeeper: "127.0.0.1:2181",
};
const WITHOUT_NODES: ReadonlySet<string> = new Set(["env", "file", "kubernetes"]);

export type ResolveSrv = (record: string) => Promise<readonly { name: string; port: number }[]>;

/** The nodes to use; rejects with a {@link ConfigError} when the records cannot be had. */
export async function nodesOf(
  settings: BackendSettings,
  environment: Environment,
  resolve: ResolveSrv = resolveSrv,
): Promise<readonly string[]> {
  const { backend, nodes, srvDomain, srvRecord, scheme } = settings;
  if (WITHOUT_NODES.has(backend)) return nodes;
  const record = srvRecord === "" && srvDomain !== "" ? `_${backend}._tcp.${srvDomain}.` : srvRecord;
  if (record !== "") {
    try {
      const found = await resolve(record);
      if (found.length === 0) throw new Error("no records");
      const start = backend === "etcd" || backend === "etcdv3" ? `${scheme}://` : "";
      return found.map(({ name, port }) => `${start}${name.replace(/\.$/, "")}:${port}`);
    } catch (error) {
      throw new ConfigError(`Cannot get nodes from SRV records ${record}: ${messageOf(error)}`);
    }
  }
  if (nodes.length > 0) return nodes;
  if (backend === "etcd" || backend === "etcdv3") {
    const named = environment.ETCDCTL_ENDPOINTS || environment.ETCDCTL_PEERS;
    if (named) return named.split(",");
  }
  const fallback = DEFAULT_NODES[backend];
  return fallback === undefined ? [] : [fallback];
}
