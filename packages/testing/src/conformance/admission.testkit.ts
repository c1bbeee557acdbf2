/** Admission webhooks, conversion webhooks. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { createAuthority } from "../control-plane/pki.ts";
import { CRDS, configMap, crd, untilServed, WIDGETS, widget } from "./fixtures.testkit.ts";
import type { ConformanceCase, Obj, Refusal, Scene } from "./scene.testkit.ts";

interface ReviewRequest {
  uid: string;
  operation: string;
  dryRun: boolean;
  name: string;
  namespace?: string;
  subResource?: string;
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  requestKind: { group: string; version: string; kind: string };
  requestResource: { group: string; version: string; resource: string };
  userInfo: { username: string };
  object: Obj | null;
  oldObject: Obj | null;
  desiredAPIVersion?: string;
  objects?: Obj[];
}

type Handler = (request: ReviewRequest) => object | number | Promise<object | number>;

interface Hook {
  url: string;
  caBundle: string;
  /** Requests so far. */
  seen: ReviewRequest[];
  close(): Promise<void>;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A webhook on loopback; a number as answer is an HTTP status. */
async function startHook(handler: Handler): Promise<Hook> {
  const authority = await createAuthority();
  const { cert, key } = await authority.serving("webhook", ["127.0.0.1"]);
  const seen: ReviewRequest[] = [];
  const server = createServer({ cert, key }, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const review = JSON.parse(body) as { kind: string; apiVersion: string; request: ReviewRequest };
    seen.push(review.request);
    const answer = await handler(review.request);
    if (typeof answer === "number") response.writeHead(answer).end("broken");
    else {
      const { kind, apiVersion } = review;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ kind, apiVersion, response: { uid: review.request.uid, ...answer } }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    caBundle: base64(authority.cert),
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";

interface HookOptions {
  kind?: "Mutating" | "Validating";
  plural?: string;
  operations?: string[];
  more?: object;
  /** Prefix of the configuration's name. */
  name?: string;
}

/** Registers a webhook for this case's namespace, waits until it is called, and removes it afterwards. */
async function withHook(
  scene: Scene,
  handler: Handler,
  options: HookOptions,
  use: (hook: Hook) => Promise<void>,
): Promise<void> {
  const {
    kind = "Validating",
    plural = "widgets",
    operations = ["CREATE", "UPDATE", "DELETE"],
    more = {},
  } = options;
  const hook = await startHook((request) =>
    request.name === "probe" ? { allowed: true } : handler(request),
  );
  const name = `${options.name ?? "hook"}-${scene.id}`;
  const path = `${REGISTRATION}/${kind.toLowerCase()}webhookconfigurations`;
  await scene.create(path, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [
      {
        name: "hook.conformance.quartet.io",
        clientConfig: { url: hook.url, caBundle: hook.caBundle },
        rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations, resources: [plural] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": scene.ns } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 3,
        ...more,
      },
    ],
  });
  try {
    // hooks that do not see a plain new widget are waited for by the case itself
    const visible =
      plural === "widgets" &&
      operations.includes("CREATE") &&
      !("rules" in more) &&
      !("objectSelector" in more);
    if (visible) {
      await scene.eventually(async () => {
        await scene.client.request("POST", `${widgets(scene)}?dryRun=All`, widget("probe"));
        return hook.seen.length > 0 ? true : undefined;
      });
    }
    hook.seen.length = 0;
    await use(hook);
  } finally {
    await scene.remove(`${path}/${name}`);
    await hook.close();
  }
}

const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const patchOf = (operations: object[]): object => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: base64(JSON.stringify(operations)),
});

interface TwoVersions {
  group: string;
  /** An object of a version. */
  thing(version: string, name: string, spec: object): object;
}

/** A resource of this case in versions v1, the stored one, and v2, whose one field has another name. */
async function withTwoVersions(scene: Scene, use: (things: TwoVersions) => Promise<void>): Promise<void> {
  const group = `${scene.id}.quartet.io`;
  const hook = await startHook(({ objects = [], desiredAPIVersion = "" }) => ({
    result: { status: "Success" },
    convertedObjects: objects.map(({ spec, ...object }) => ({
      ...object,
      apiVersion: desiredAPIVersion,
      spec: desiredAPIVersion.endsWith("v2") ? { newName: spec?.oldName } : { oldName: spec?.newName },
    })),
  }));
  const version = (name: string, field: string): object => ({
    name,
    served: true,
    storage: name === "v1",
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { [field]: { type: "string" } } } },
      },
    },
  });
  const webhook = {
    clientConfig: { url: hook.url, caBundle: hook.caBundle },
    conversionReviewVersions: ["v1"],
  };
  const spec = {
    versions: [version("v1", "oldName"), version("v2", "newName")],
    conversion: { strategy: "Webhook", webhook },
  };
  await scene.create(CRDS, crd({ plural: "things", kind: "Thing", group, schema: {}, spec }));
  try {
    await untilServed(scene.client, `${group}/v2`, "things");
    await use({
      group,
      thing: (name, object, fields) => ({
        apiVersion: `${group}/${name}`,
        kind: "Thing",
        metadata: { name: object },
        spec: fields,
      }),
    });
  } finally {
    await scene.remove(`${CRDS}/things.${group}`);
    await scene.eventually(async () =>
      (await scene.client.request("GET", `${CRDS}/things.${group}`)).code === 404 ? true : undefined,
    );
    await hook.close();
  }
}

/** A webhook for things of version v1. */
const versionOne = (group: string, kind: "Mutating" | "Validating", more: object = {}): HookOptions => ({
  kind,
  plural: "things",
  more: {
    rules: [
      { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["things"] },
    ],
    ...more,
  },
});

/** Waits until a hook is called for a thing of version v1. */
async function untilCalled(scene: Scene, hook: Hook, group: string, first: object): Promise<void> {
  await scene.eventually(async () => {
    await scene.client.request("POST", `${scene.at(`${group}/v1`, "things")}?dryRun=All`, first);
    return hook.seen.length > 0 ? true : undefined;
  });
}

/** Requests that are not about the probe. */
const real = (hook: Hook): ReviewRequest[] => hook.seen.filter(({ name }) => name !== "probe");

export const ADMISSION_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-472 a validating webhook refuses with its message; without a code of its own it is 400",
    async run(scene) {
      await withHook(
        scene,
        () => ({ allowed: false, status: { message: "not today" } }),
        {},
        async () => {
          const refusal = await scene.refused("POST", widgets(scene), widget("a"), 400);
          expect(refusal).toMatchObject({
            message: 'admission webhook "hook.conformance.quartet.io" denied the request: not today',
          });
        },
      );
    },
  },
  {
    name: "CORE-472 a refusal's code, reason and details are passed on",
    async run(scene) {
      const status = {
        code: 422,
        reason: "Invalid",
        message: "bad size",
        details: { causes: [{ reason: "FieldValueInvalid", message: "too big", field: "spec.size" }] },
      };
      await withHook(
        scene,
        () => ({ allowed: false, status }),
        {},
        async () => {
          const refusal = await scene.refused("POST", widgets(scene), widget("a"), 422);
          expect(refusal.reason).toBe("Invalid");
          expect(refusal.details?.causes).toMatchObject([{ field: "spec.size" }]);
        },
      );
    },
  },
  {
    name: "CORE-472 the review tells operation, kind, resource, user, object and old object",
    async run(scene) {
      await withHook(
        scene,
        () => ({ allowed: true }),
        {},
        async (hook) => {
          await scene.create(widgets(scene), widget("a"));
          await scene.merge(widgets(scene, "a"), { spec: { size: 2 } });
          await scene.remove(widgets(scene, "a"));
          const [create, update, remove] = real(hook);
          expect(create).toMatchObject({
            operation: "CREATE",
            name: "a",
            namespace: scene.ns,
            dryRun: false,
            kind: { group: "conformance.quartet.io", version: "v1", kind: "Widget" },
            resource: { group: "conformance.quartet.io", version: "v1", resource: "widgets" },
            userInfo: { username: expect.any(String) },
            object: { metadata: { name: "a" }, spec: { size: 1, color: "red" } },
            oldObject: null,
          });
          expect(update).toMatchObject({
            operation: "UPDATE",
            object: { spec: { size: 2 } },
            oldObject: { spec: { size: 1 } },
          });
          expect(remove).toMatchObject({
            operation: "DELETE",
            object: null,
            oldObject: { spec: { size: 2 } },
          });
        },
      );
    },
  },
  {
    name: "CORE-472 a mutating webhook's JSON patch changes the object",
    async run(scene) {
      const handler = (): object => patchOf([{ op: "add", path: "/spec/text", value: "made" }]);
      await withHook(scene, handler, { kind: "Mutating", operations: ["CREATE"] }, async () => {
        expect((await scene.create(widgets(scene), widget("a"))).spec?.text).toBe("made");
      });
    },
  },
  {
    name: "CORE-472 what a mutating webhook makes of an object is validated",
    async run(scene) {
      const handler = (): object => patchOf([{ op: "replace", path: "/spec/size", value: 0 }]);
      await withHook(scene, handler, { kind: "Mutating", operations: ["CREATE"] }, async () => {
        const refusal = await scene.refused("POST", widgets(scene), widget("a"), 422);
        expect(refusal.details?.causes?.[0]?.field).toBe("spec.size");
      });
    },
  },
  {
    name: "CORE-472 mutating webhooks come before validating ones",
    async run(scene) {
      const mutate = (): object => patchOf([{ op: "add", path: "/spec/text", value: "made" }]);
      await withHook(scene, mutate, { kind: "Mutating", operations: ["CREATE"], name: "m" }, async () => {
        await withHook(
          scene,
          () => ({ allowed: true }),
          { operations: ["CREATE"], name: "v" },
          async (hook) => {
            await scene.create(widgets(scene), widget("a"));
            expect(real(hook)[0]?.object?.spec?.text).toBe("made");
          },
        );
      });
    },
  },
  {
    name: "CORE-472 failurePolicy Fail: a broken webhook fails the request with 500",
    async run(scene) {
      await withHook(
        scene,
        () => 500,
        { more: { failurePolicy: "Fail" } },
        async () => {
          const refusal = await scene.refused("POST", widgets(scene), widget("a"), 500);
          expect(refusal.reason).toBe("InternalError");
          expect(refusal.message).toContain('failed calling webhook "hook.conformance.quartet.io"');
        },
      );
    },
  },
  {
    name: "CORE-472 failurePolicy Ignore: a broken webhook is passed over",
    async run(scene) {
      await withHook(
        scene,
        () => 500,
        { more: { failurePolicy: "Ignore" } },
        async () => {
          await scene.create(widgets(scene), widget("a"));
        },
      );
    },
  },
  {
    name: "CORE-472 a webhook that takes too long has failed",
    async run(scene) {
      const slow = async (): Promise<object> => {
        await new Promise((resolve) => setTimeout(resolve, 3000));
        return { allowed: true };
      };
      await withHook(scene, slow, { more: { timeoutSeconds: 1 } }, async () => {
        const refusal = await scene.refused("POST", widgets(scene), widget("a"), 500);
        expect(refusal.message).toMatch(/deadline exceeded|timeout/i);
      });
    },
  },
  {
    name: "CORE-472 warnings become Warning headers",
    async run(scene) {
      await withHook(
        scene,
        () => ({ allowed: true, warnings: ["mind the gap"] }),
        {},
        async () => {
          const answer = await scene.client.request("POST", widgets(scene), widget("a"));
          expect(answer.headers.warning).toContain('299 - "mind the gap"');
        },
      );
    },
  },
  {
    name: "CORE-472 dry runs are told",
    async run(scene) {
      await withHook(
        scene,
        () => ({ allowed: true }),
        {},
        async (hook) => {
          await scene.create(`${widgets(scene)}?dryRun=All`, widget("a"));
          expect(real(hook)[0]?.dryRun).toBe(true);
        },
      );
    },
  },
  {
    name: "CORE-472 rules: other operations and resources are left alone",
    async run(scene) {
      await withHook(
        scene,
        () => ({ allowed: false }),
        { operations: ["CREATE"] },
        async (hook) => {
          await scene.create(scene.at("v1", "configmaps"), configMap("a"));
          await scene.refused("POST", widgets(scene), widget("a"), 400);
          expect(real(hook).map(({ resource }) => resource.resource)).toEqual(["widgets"]);
        },
      );
    },
  },
  {
    name: "CORE-472 status writes need a rule of their own",
    async run(scene) {
      await withHook(
        scene,
        () => ({ allowed: true }),
        {},
        async (hook) => {
          await scene.create(widgets(scene), widget("a"));
          await scene.merge(`${widgets(scene, "a")}/status`, { status: { phase: "Done" } });
          expect(real(hook).map(({ operation }) => operation)).toEqual(["CREATE"]);
        },
      );
      const rules = [
        { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["widgets/status"] },
      ];
      await withHook(
        scene,
        () => ({ allowed: true }),
        { more: { rules } },
        async (hook) => {
          await scene.eventually(async () => {
            await scene.client.ok(
              "PATCH",
              `${widgets(scene, "a")}/status?dryRun=All`,
              { status: { phase: "New" } },
              {
                contentType: "application/merge-patch+json",
              },
            );
            return real(hook).length > 0 ? true : undefined;
          });
          expect(real(hook)[0]).toMatchObject({ operation: "UPDATE", subResource: "status" });
        },
      );
    },
  },
  {
    name: "CORE-472 objectSelector chooses by the object's labels",
    async run(scene) {
      const more = { objectSelector: { matchLabels: { guarded: "yes" } } };
      await withHook(
        scene,
        () => ({ allowed: false }),
        { more },
        async () => {
          await scene.create(widgets(scene), widget("a"));
          await scene.eventually(async () => {
            const body = widget("b", {}, { labels: { guarded: "yes" } });
            const answer = await scene.client.request<Refusal>("POST", `${widgets(scene)}?dryRun=All`, body);
            return answer.code === 400 ? true : undefined;
          });
        },
      );
    },
  },
  {
    name: "CORE-472 a webhook may refuse a delete",
    async run(scene) {
      await withHook(
        scene,
        ({ operation }) => ({ allowed: operation !== "DELETE" }),
        {},
        async () => {
          await scene.create(widgets(scene), widget("a"));
          await scene.refused("DELETE", widgets(scene, "a"), undefined, 400);
          await scene.get(widgets(scene, "a"));
        },
      );
    },
  },
  {
    name: "CORE-472 webhook configurations are defaulted and checked",
    async run(scene) {
      const path = `${REGISTRATION}/validatingwebhookconfigurations`;
      const hook = {
        name: "hook.conformance.quartet.io",
        clientConfig: { url: "https://127.0.0.1:1/" },
        rules: [{ apiGroups: ["none.io"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["none"] }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      };
      const body = (webhook: object): object => ({
        metadata: { name: `check-${scene.id}` },
        webhooks: [webhook],
      });
      const made = await scene.create(path, body(hook));
      expect((made.webhooks as object[])[0]).toMatchObject({
        failurePolicy: "Fail",
        matchPolicy: "Equivalent",
        timeoutSeconds: 10,
        namespaceSelector: {},
        objectSelector: {},
        rules: [{ scope: "*" }],
      });
      await scene.remove(`${path}/check-${scene.id}`);
      const { sideEffects: _effects, ...without } = hook;
      for (const wrong of [
        without,
        { ...hook, timeoutSeconds: 31 },
        { ...hook, admissionReviewVersions: [] },
        { ...hook, name: "short" },
      ]) {
        await scene.refused("POST", path, body(wrong), 422);
      }
    },
  },
  {
    name: "CORE-472 a conversion webhook translates between versions",
    async run(scene) {
      await withTwoVersions(scene, async ({ group, thing }) => {
        await scene.create(scene.at(`${group}/v1`, "things"), thing("v1", "x", { oldName: "n" }));
        const path = scene.at(`${group}/v2`, "things", "x");
        const read = await scene.get(path);
        expect(read).toMatchObject({ apiVersion: `${group}/v2`, spec: { newName: "n" } });
        await scene.put(path, { ...read, spec: { newName: "m" } });
        expect((await scene.get(scene.at(`${group}/v1`, "things", "x"))).spec).toEqual({ oldName: "m" });
        expect((await scene.list(scene.at(`${group}/v2`, "things"))).items[0]?.spec).toEqual({
          newName: "m",
        });
      });
    },
  },
  {
    name: "CORE-472 a webhook for one version is called for the others, and sees and changes the object in its own",
    async run(scene) {
      await withTwoVersions(scene, ({ group, thing }) =>
        withHook(
          scene,
          () => patchOf([{ op: "replace", path: "/spec/oldName", value: "changed" }]),
          versionOne(group, "Mutating"),
          async (hook) => {
            await untilCalled(scene, hook, group, thing("v1", "first", { oldName: "n" }));
            const path = scene.at(`${group}/v2`, "things");
            const made = await scene.create(path, thing("v2", "x", { newName: "n" }));
            expect(made).toMatchObject({ apiVersion: `${group}/v2`, spec: { newName: "changed" } });
            const [request] = hook.seen.filter(({ name }) => name === "x");
            expect(request).toMatchObject({
              kind: { group, version: "v1", kind: "Thing" },
              resource: { group, version: "v1", resource: "things" },
              requestKind: { group, version: "v2", kind: "Thing" },
              requestResource: { group, version: "v2", resource: "things" },
              object: { apiVersion: `${group}/v1`, spec: { oldName: "n" } },
            });
            await scene.merge(`${path}/x`, { spec: { newName: "m" } });
            expect(hook.seen.at(-1)).toMatchObject({
              object: { spec: { oldName: "m" } },
              oldObject: { apiVersion: `${group}/v1`, spec: { oldName: "changed" } },
            });
          },
        ),
      );
    },
  },
  {
    name: "CORE-472 a webhook that matches exactly is not called for other versions",
    async run(scene) {
      await withTwoVersions(scene, ({ group, thing }) =>
        withHook(
          scene,
          () => ({ allowed: false }),
          versionOne(group, "Validating", { matchPolicy: "Exact" }),
          async (hook) => {
            await untilCalled(scene, hook, group, thing("v1", "first", { oldName: "n" }));
            await scene.create(scene.at(`${group}/v2`, "things"), thing("v2", "x", { newName: "n" }));
          },
        ),
      );
    },
  },
];
