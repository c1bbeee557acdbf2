/** The conformance suite: what the double and the real API server have in common, rule by rule. */
import { afterAll, beforeAll, describe, it } from "vitest";
import type { ApiServer } from "../api-server.ts";
import { testNamespace } from "../control-plane/namespace.ts";
import { type TestClient, testClient } from "../request.ts";
import { ADMISSION_CASES } from "./admission.testkit.ts";
import { APPLY_CASES } from "./apply.testkit.ts";
import { CRD_CASES } from "./crds.testkit.ts";
import { CRUD_CASES } from "./crud.testkit.ts";
import { DELETION_CASES } from "./deletion.testkit.ts";
import { installFixtures } from "./fixtures.testkit.ts";
import { LIST_CASES } from "./list.testkit.ts";
import { PATCH_CASES } from "./patch.testkit.ts";
import { type ConformanceCase, createScene } from "./scene.testkit.ts";
import { SERVER_CASES } from "./server.testkit.ts";
import { WATCH_CASES } from "./watch.testkit.ts";

const GROUPS: Readonly<Record<string, readonly ConformanceCase[]>> = {
  "objects and names": CRUD_CASES,
  "custom resources": CRD_CASES,
  "deletion and namespaces": DELETION_CASES,
  watches: WATCH_CASES,
  lists: LIST_CASES,
  "patches and field validation": PATCH_CASES,
  "server-side apply": APPLY_CASES,
  webhooks: ADMISSION_CASES,
  "discovery, rights and built-in kinds": SERVER_CASES,
};

export function allCases(): readonly ConformanceCase[] {
  return Object.values(GROUPS).flat();
}

const CASE_LIMIT_MS = 120_000;

/** Registers all cases against a server that `start` gives. */
export function defineConformance(start: () => Promise<ApiServer>, target: ApiServer["target"]): void {
  let server: ApiServer;
  let client: TestClient;
  beforeAll(async () => {
    server = await start();
    client = testClient(await server.kubeconfig());
    await installFixtures(client);
  }, CASE_LIMIT_MS);
  afterAll(async () => {
    client?.close();
    await server?.stop();
  });

  for (const [group, cases] of Object.entries(GROUPS)) {
    describe(group, () => {
      for (const { name, run, doubleDiffers } of cases) {
        if (target === "double" && doubleDiffers !== undefined) continue;
        it(
          name,
          async () => {
            const namespace = await testNamespace(client);
            const scene = createScene(server, client, namespace.name);
            try {
              await run(scene);
            } finally {
              scene.close();
              await namespace.empty();
            }
          },
          CASE_LIMIT_MS,
        );
      }
    });
  }
}
