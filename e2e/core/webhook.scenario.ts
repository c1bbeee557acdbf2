/** A13 and A14: admission by the manager's own webhooks, and their certificates. */
import { X509Certificate } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { webhookConfigurations } from "@quartet/core/webhook";
import type { CertificateLives } from "@quartet/manager";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createEchoModule, type EchoOptions } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage, type StageManager } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(async () => {
  for (const plural of PLURALS) await stage.client.request("DELETE", configuration(plural));
  await stage.close();
});

const PLURALS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

const configuration = (plural: string): string =>
  `/apis/admissionregistration.k8s.io/v1/${plural}/${stage.namespace}-webhook`;

interface Configuration {
  webhooks: { clientConfig: { caBundle?: string } }[];
}

const bundles = async (): Promise<(string | undefined)[]> => {
  const all = await Promise.all(
    PLURALS.map((plural) => stage.client.ok<Configuration>("GET", configuration(plural))),
  );
  return all.flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle));
};

/** A manager with webhooks, registered as the chart would; resolves when the API server can reach them. */
async function startHooked(
  options: EchoOptions & { certificateLives?: CertificateLives } = {},
  failurePolicy?: "Fail" | "Ignore",
): Promise<StageManager> {
  const { certificateLives, ...echo } = options;
  const module = createEchoModule({ cleanupUrl: stage.endpoint.url, ...echo });
  const lives = certificateLives && { certificateLives };
  const manager = await stage.start({ modules: [module], args: ["--webhook-port=0"], ...lives });
  const objects = webhookConfigurations(module.webhooks!, {
    name: `${stage.namespace}-webhook`,
    target: { url: manager.urls.webhook! },
    ownGroups: ["test.quartet.io"],
    namespaces: [stage.namespace],
    ...(failurePolicy && { failurePolicy }),
  });
  for (const object of objects) {
    const plural = `${object.kind.toLowerCase()}s`;
    await stage.client.ok("POST", `/apis/admissionregistration.k8s.io/v1/${plural}`, object);
  }
  await manager.ready;
  await eventually(async () => expect(await bundles()).toEqual([expect.any(String), expect.any(String)]));
  // The API server learns of a configuration by a watch of its own.
  await eventually(async () => {
    const probe = await create("probe", { text: "" }, "?dryRun=All");
    expect(probe.code).toBe(422);
  });
  return manager;
}

interface Answer {
  message?: string;
  spec?: object;
}

const create = (name: string, spec: object, query = "") =>
  stage.client.request<Answer>("POST", `${echoes.path}${query}`, {
    apiVersion: "test.quartet.io/v1",
    kind: "Echo",
    metadata: { name },
    spec,
  });

it("core A13 CORE-336 CORE-337 CORE-338 an Echo is refused by field, admitted with a warning, and gets its default colour", async () => {
  await startHooked();
  const refused = await create("a", { text: "" });
  expect(refused.code).toBe(422);
  expect(refused.body.message).toContain('Echo "a" is invalid: spec.text: must not be empty');
  const warned = await create("a", { text: "OLD", unknownToUs: { keep: [null] } });
  expect(warned.code).toBe(201);
  expect(String(warned.headers.warning)).toContain("spec.text: OLD is out of use, write NEW");
  expect(warned.body.spec).toMatchObject({ text: "OLD", color: "grey", unknownToUs: { keep: [null] } });
  await echoes.ready("a");
});

it("core A13 CORE-341 a dry run tells the handler so, gets the defaults and leaves nothing", async () => {
  const seen: boolean[] = [];
  await startHooked({ onAdmission: (dryRun) => void seen.push(dryRun) });
  const dry = await create("a", { text: "hello", finalize: true }, "?dryRun=All");
  expect(dry).toMatchObject({ code: 201, body: { spec: { color: "grey" } } });
  expect(seen.at(-1)).toBe(true);
  expect(await echoes.get("a")).toBeUndefined();
  expect(stage.endpoint.calls).toEqual([]);
  expect((await create("a", { text: "hello" })).code).toBe(201);
  expect(seen).toContain(false);
});

it.each([
  ["Fail", 500],
  ["Ignore", 201],
] as const)(
  "core A13 CORE-340 a handler that crashes answers 500: with policy %s the request ends with %i",
  async (policy, code) => {
    let broken = false;
    const onAdmission = (): void => {
      if (broken) throw new TypeError("the handler is broken");
    };
    const manager = await startHooked({ onAdmission }, policy);
    broken = true;
    expect((await create("a", { text: "hello" })).code).toBe(code);
    const codes = await manager.metric(
      "controller_runtime_webhook_requests_total",
      "/validate-echo",
      'code="500"',
    );
    expect(codes).toBeGreaterThanOrEqual(1);
    broken = false;
    expect((await create("b", { text: "hello" })).code).toBe(201);
  },
);

it("core A14 CORE-348 CORE-350 DSP-1025 a cleared caBundle and a deleted Secret are repaired, and admission goes on", async () => {
  await startHooked();
  const [before] = await bundles();
  for (const plural of PLURALS) {
    const operations = [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }];
    await stage.client.ok("PATCH", configuration(plural), operations, {
      contentType: "application/json-patch+json",
    });
  }
  await eventually(async () => expect(await bundles()).toEqual([before, before]), 5_000);

  const secret = `/api/v1/namespaces/${stage.namespace}/secrets/${stage.namespace}-webhook-cert`;
  await stage.client.ok("DELETE", secret);
  await eventually(async () => {
    const answer = await stage.client.request<{ data: Record<string, string> }>("GET", secret);
    expect(answer.code).toBe(200);
    expect(await bundles()).toEqual([answer.body.data["ca.crt"], answer.body.data["ca.crt"]]);
  }, 10_000);
  await eventually(async () => expect((await create("a", { text: "hello" })).code).toBe(201), 10_000);
});

/** The CA is renewed at 80 % of its life, and its predecessor goes one leaf's life later: well within the rotation. */
const LIVES = { leafLifeMs: 15_000, caLifeMs: 30_000 };
const ROTATION_MS = 55_000;

it("core A14 CORE-347 CORE-348 CORE-349 no admission fails while five leaves and two CAs follow each other", async () => {
  const manager = await startHooked({ certificateLives: LIVES });
  const secret = `/api/v1/namespaces/${stage.namespace}/secrets/${stage.namespace}-webhook-cert`;
  const leaves = new Set<string>();
  const trusted = new Set<string>();
  const failed: unknown[] = [];
  const begun = performance.now();
  for (let turn = 0; performance.now() - begun < ROTATION_MS; turn++) {
    const answer = await create(`a-${turn}`, { text: "hello" });
    if (answer.code !== 201) failed.push(answer.body);
    const { data } = await stage.client.ok<{ data: Record<string, string> }>("GET", secret);
    leaves.add(data["tls.crt"]!);
    // The API server keeps its connection; whoever comes new must be able to trust what is served.
    const [bundle = ""] = await bundles();
    for (const ca of certificatesOf(bundle)) trusted.add(ca);
    await handshake(manager.urls.webhook!, bundle).catch((error) => failed.push(error));
    await sleep(Math.max(0, begun + 1_000 * (turn + 1) - performance.now()));
  }
  expect(failed).toEqual([]);
  expect(leaves.size).toBeGreaterThanOrEqual(5);
  expect(trusted.size).toBeGreaterThanOrEqual(2);
  expect([...trusted].map((ca) => new X509Certificate(ca).ca)).not.toContain(false);
}, 150_000);

/** The certificates of a bundle in base64. */
function certificatesOf(bundle: string): string[] {
  const text = Buffer.from(bundle, "base64").toString();
  return text.split(/(?=-----BEGIN)/).filter((part) => part.includes("BEGIN"));
}

/** Opens a TLS connection that trusts the CA alone, given in base64. */
function handshake(url: string, bundle: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const ca = Buffer.from(bundle, "base64");
    const socket = connect({ host: hostname, port: Number(port), ca, servername: "localhost" }, () => {
      socket.destroy();
      resolve();
    });
    socket.on("error", reject);
  });
}
