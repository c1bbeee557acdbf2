/** Echoes and their ConfigMaps as a user sees them, without any code of the core. */
import type { TestClient } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { expect } from "vitest";
import type { ConfigMap, Echo } from "../../echo/echo.ts";
import type { Stage } from "./stage.ts";

export { eventually };

export interface Echoes {
  readonly path: string;
  create(name: string, spec: object): Promise<Echo>;
  get(name: string): Promise<Echo | undefined>;
  merge(name: string, body: object): Promise<Echo>;
  remove(name: string): Promise<void>;
  /** The ConfigMap of an Echo. */
  out(name: string): Promise<ConfigMap | undefined>;
  outPath(name: string): string;
  /** Resolves with the Echo when it is Ready at its newest generation. */
  ready(name: string): Promise<Echo>;
  gone(name: string): Promise<void>;
}

export function echoesOf(stage: Pick<Stage, "client" | "namespace">, group = "test.quartet.io"): Echoes {
  const { client, namespace } = stage;
  const path = `/apis/${group}/v1/namespaces/${namespace}/echoes`;
  const outPath = (name: string): string => `/api/v1/namespaces/${namespace}/configmaps/${name}-out`;
  const get = (name: string): Promise<Echo | undefined> => find<Echo>(client, `${path}/${name}`);
  return {
    path,
    outPath,
    get,
    create: (name, spec) =>
      client.ok("POST", path, { apiVersion: `${group}/v1`, kind: "Echo", metadata: { name }, spec }),
    merge: (name, body) =>
      client.ok("PATCH", `${path}/${name}`, body, { contentType: "application/merge-patch+json" }),
    async remove(name) {
      await client.ok("DELETE", `${path}/${name}`);
    },
    out: (name) => find<ConfigMap>(client, outPath(name)),
    ready: (name) =>
      eventually(async () => {
        const echo = await get(name);
        const ready = echo?.status?.conditions?.find(({ type }) => type === "Ready");
        expect(ready).toMatchObject({ status: "True", observedGeneration: echo!.metadata.generation });
        return echo!;
      }),
    gone: (name) => eventually(async () => expect(await get(name)).toBeUndefined()),
  };
}

async function find<T>(client: TestClient, path: string): Promise<T | undefined> {
  const answer = await client.request<T>("GET", path);
  if (answer.code !== 200 && answer.code !== 404) throw new Error(`GET ${path}: ${answer.code}`);
  return answer.code === 404 ? undefined : answer.body;
}
