/** A cluster of real etcd servers on loopback. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureAssets, portAllocator } from "@quartet/testing";
import { startServer, type TestServer } from "./servers.testkit.ts";

export interface EtcdCluster {
  readonly members: readonly TestServer[];
  /** Writes a key through the first member that answers. */
  put(key: string, value: string): Promise<void>;
  /** Compacts the history at its end. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

const REQUEST_LIMIT_MS = 5000;

export async function startEtcdCluster(size: number): Promise<EtcdCluster> {
  const { programs } = await ensureAssets({ need: ["etcd"] });
  const ports = portAllocator();
  const root = mkdtempSync(join(tmpdir(), "confd-etcd-"));
  const plans: { name: string; client: string; peer: string }[] = [];
  for (let index = 0; index < size; index++) {
    const [client, peer] = [await ports.allocate(), await ports.allocate()];
    plans.push({ name: `m${index}`, client: `127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` });
  }
  const ask = async (address: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`http://${address}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const members = await Promise.all(
    plans.map(({ name, client, peer }) => {
      const folder = join(root, name);
      return startServer({
        command: programs.etcd!,
        args: [
          ...["--name", name, "--data-dir", join(folder, "data"), "--log-level=error", "--unsafe-no-fsync"],
          ...[`--listen-client-urls=http://${client}`, `--advertise-client-urls=http://${client}`],
          ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
          `--initial-cluster=${plans.map((one) => `${one.name}=${one.peer}`).join(",")}`,
        ],
        folder: root,
        data: join(folder, "data"),
        address: client,
        // A read that the whole cluster agrees on.
        isReady: () =>
          ask(client, "/v3/kv/range", { key: "AA==" }).then(
            () => true,
            () => false,
          ),
        release: () => {},
      });
    }),
  );
  /** The answer of the first member that gives one. */
  const anyone = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const deadline = Date.now() + 60_000;
    for (let index = 0; ; index++) {
      try {
        return await ask(members[index % size]!.address, path, body);
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  };
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    members,
    put: async (key, value) => void (await anyone("/v3/kv/put", { key: base64(key), value: base64(value) })),
    compact: async () => {
      const { header } = (await anyone("/v3/kv/range", { key: "AA==" })) as { header: { revision: string } };
      await anyone("/v3/kv/compaction", { revision: header.revision });
    },
    close: async () => {
      await Promise.all(members.map((member) => member.kill()));
      ports.releaseAll();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
