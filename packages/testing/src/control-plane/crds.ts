/** Installing custom resource definitions in a test cluster. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";

/** A CustomResourceDefinition of `apiextensions.k8s.io/v1`, as far as the harness looks at it. */
export interface CustomResourceDefinition {
  metadata: { name: string };
  spec: {
    group: string;
    scope: string;
    names: { plural: string };
    versions: { name: string; served: boolean }[];
  };
}

interface InstalledDefinition {
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POLL_MS = 50;
const LIMIT_MS = 60_000;

/**
 * Applies definitions and resolves when each is Established and its served versions are listed in discovery.
 * Note: a change of a definition's schema ends the running watches of its kind.
 */
export async function installCrds(
  client: TestClient,
  definitions: readonly CustomResourceDefinition[],
): Promise<void> {
  for (const definition of definitions) {
    const path = `${DEFINITIONS}/${definition.metadata.name}?fieldManager=quartet-testing&force=true`;
    await client.ok("PATCH", path, definition, { contentType: "application/apply-patch+yaml" });
  }
  await Promise.all(definitions.map((definition) => untilServed(client, definition)));
}

async function untilServed(client: TestClient, definition: CustomResourceDefinition): Promise<void> {
  const { name } = definition.metadata;
  const deadline = Date.now() + LIMIT_MS;
  let reason = "";
  while (Date.now() < deadline) {
    const { status } = await client.ok<InstalledDefinition>("GET", `${DEFINITIONS}/${name}`);
    const conditions = status?.conditions ?? [];
    const established = conditions.some(
      ({ type, status: value }) => type === "Established" && value === "True",
    );
    if (established && (await isDiscovered(client, definition))) return;
    reason = conditions.find(({ status: value, message }) => value === "False" && message)?.message ?? reason;
    await sleep(POLL_MS);
  }
  throw new Error(`CRD ${name} is not served after ${LIMIT_MS / 1000} s. ${reason}`);
}

async function isDiscovered(client: TestClient, { spec }: CustomResourceDefinition): Promise<boolean> {
  for (const version of spec.versions.filter(({ served }) => served)) {
    const answer = await client.request<{ resources?: { name: string }[] }>(
      "GET",
      `/apis/${spec.group}/${version.name}`,
    );
    const listed = answer.code < 400 && answer.body.resources?.some(({ name }) => name === spec.names.plural);
    if (!listed) return false;
  }
  return true;
}
