/** The parts of etcd's JSON gateway that tests use. */

/** Compacts the database at its newest revision, and returns that revision. */
export async function compactEtcd(clientPort: number): Promise<number> {
  const { header } = await call<{ header: { revision: string } }>(clientPort, "/v3/maintenance/status", {});
  await call(clientPort, "/v3/kv/compaction", { revision: header.revision, physical: true });
  return Number(header.revision);
}

async function call<T>(port: number, path: string, body: object): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}
