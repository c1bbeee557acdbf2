/** Discovery, identity, rights, and what the server fills in or holds fast in built-in kinds. */
import { expect } from "vitest";
import { type TestClient, testClient } from "../request.ts";
import { configMap, container, GROUP, pod, service, statefulSet, WIDGETS } from "./fixtures.testkit.ts";
import { type ConformanceCase, MERGE, type Obj, type Refusal, type Scene } from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
const sets = (scene: Scene, name?: string): string => scene.at("apps/v1", "statefulsets", name);
const services = (scene: Scene, name?: string): string => scene.at("v1", "services", name);

interface Resource {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  shortNames?: string[];
  singularName?: string;
  categories?: string[];
}

const resources = (scene: Scene, path: string): Promise<Resource[]> =>
  scene.client.ok<{ resources: Resource[] }>("GET", path).then((list) => list.resources);

/** A client that logs in as somebody without rights. */
async function as(scene: Scene, user: string, use: (client: TestClient) => Promise<void>): Promise<void> {
  const client = testClient(await scene.server.kubeconfig({ user, groups: ["plain"] }));
  try {
    await use(client);
  } finally {
    client.close();
  }
}

const ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const access = (resourceAttributes: object): object => ({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec: { resourceAttributes },
});
const RBAC = "rbac.authorization.k8s.io/v1";

/** What is in a template after the server has completed it. */
async function completed(scene: Scene, spec: object): Promise<Record<string, unknown>> {
  const body = { metadata: { name: "t" }, template: { spec: { containers: [container()], ...spec } } };
  const made = await scene.create(`${scene.at("v1", "podtemplates")}?dryRun=All`, body);
  return (made.template as { spec: Record<string, unknown> }).spec;
}

export const SERVER_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-474 /version tells major, minor and gitVersion",
    async run(scene) {
      expect(await scene.client.ok("GET", "/version")).toMatchObject({
        major: expect.stringMatching(/^\d+$/),
        minor: expect.stringMatching(/^\d+/),
        gitVersion: scene.server.version,
      });
    },
  },
  {
    name: "CORE-474 health paths answer ok",
    async run(scene) {
      for (const path of ["/healthz", "/livez", "/readyz"])
        expect(await scene.client.ok("GET", path)).toBe("ok");
    },
  },
  {
    name: "CORE-474 /api and /apis list versions and groups",
    async run(scene) {
      expect(await scene.client.ok("GET", "/api")).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
      const { groups } = await scene.client.ok<{ groups: { name: string }[] }>("GET", "/apis");
      const names = groups.map(({ name }) => name);
      for (const name of [
        "apps",
        "batch",
        "coordination.k8s.io",
        "events.k8s.io",
        "rbac.authorization.k8s.io",
        GROUP,
      ]) {
        expect(names).toContain(name);
      }
      expect(await scene.client.ok("GET", "/apis/apps")).toMatchObject({
        kind: "APIGroup",
        name: "apps",
        versions: [{ groupVersion: "apps/v1", version: "v1" }],
        preferredVersion: { groupVersion: "apps/v1", version: "v1" },
      });
    },
  },
  {
    name: "CORE-474 a group version lists resources and subresources",
    async run(scene) {
      const apps = await resources(scene, "/apis/apps/v1");
      expect(apps.find(({ name }) => name === "statefulsets")).toMatchObject({
        kind: "StatefulSet",
        namespaced: true,
        singularName: "statefulset",
        shortNames: ["sts"],
        categories: ["all"],
        verbs: expect.arrayContaining([
          "create",
          "delete",
          "deletecollection",
          "get",
          "list",
          "patch",
          "update",
          "watch",
        ]),
      });
      expect(apps.find(({ name }) => name === "statefulsets/status")).toMatchObject({
        verbs: ["get", "patch", "update"],
      });
      expect(apps.find(({ name }) => name === "statefulsets/scale")).toMatchObject({
        kind: "Scale",
        group: "autoscaling",
        version: "v1",
      });
      const core = await resources(scene, "/api/v1");
      expect(core.find(({ name }) => name === "nodes")?.namespaced).toBe(false);
      expect(core.find(({ name }) => name === "pods/eviction")).toMatchObject({
        kind: "Eviction",
        verbs: ["create"],
      });
    },
  },
  {
    name: "CORE-474 a custom kind is listed with names, verbs and subresources",
    async run(scene) {
      const list = await resources(scene, `/apis/${WIDGETS}`);
      expect(list.find(({ name }) => name === "widgets")).toMatchObject({
        kind: "Widget",
        singularName: "widget",
        namespaced: true,
        shortNames: ["wd"],
        categories: ["all"],
      });
      expect(list.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["widgets", "widgets/status", "widgets/scale", "plains"]),
      );
      expect(list.map(({ name }) => name)).not.toContain("plains/status");
    },
  },
  {
    name: "CORE-474 what is not served is 404",
    async run(scene) {
      for (const path of ["/apis/nosuch.io", "/apis/nosuch.io/v1", "/apis/nosuch.io/v1/things", "/nosuch"]) {
        expect((await scene.client.request("GET", path)).code).toBe(404);
      }
      const refusal = await scene.refused("GET", scene.at("v1", "nosuch"), undefined, 404);
      expect(refusal).toMatchObject({
        reason: "NotFound",
        message: "the server could not find the requested resource",
      });
    },
  },
  {
    name: "CORE-474 methods that a resource does not know are 405",
    async run(scene) {
      const refusal = await scene.refused("PUT", maps(scene), configMap("a"), 405);
      expect(refusal.reason).toBe("MethodNotAllowed");
      await scene.refused("POST", "/api/v1/configmaps", configMap("a"), 405);
      await scene.refused("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", undefined, 405);
    },
  },
  {
    name: "CORE-474 OpenAPI v3 has a document for each group version",
    async run(scene) {
      const { paths } = await scene.client.ok<{ paths: Record<string, { serverRelativeURL: string }> }>(
        "GET",
        "/openapi/v3",
      );
      expect(Object.keys(paths)).toEqual(
        expect.arrayContaining(["api/v1", "apis/apps/v1", `apis/${WIDGETS}`]),
      );
      const document = await scene.client.ok<{ paths: Record<string, object> }>(
        "GET",
        paths["apis/apps/v1"]!.serverRelativeURL,
      );
      expect(document.paths["/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}"]).toMatchObject({
        patch: { parameters: expect.arrayContaining([expect.objectContaining({ name: "fieldValidation" })]) },
      });
    },
  },
  {
    name: "CORE-474 a bad token is 401",
    async run(scene) {
      const kubeconfig = (await scene.server.kubeconfig()).replace(
        /client-certificate-data: .*\n\s*client-key-data: .*|token: .*/,
        "token: nonsense",
      );
      const client = testClient(kubeconfig);
      const answer = await client.request<Refusal>("GET", maps(scene));
      client.close();
      expect(answer.code).toBe(401);
      expect(answer.body).toMatchObject({ reason: "Unauthorized", message: "Unauthorized" });
    },
  },
  {
    name: "CORE-474 SelfSubjectAccessReview of an administrator",
    async run(scene) {
      const attributes = { verb: "create", group: "apps", resource: "statefulsets", namespace: scene.ns };
      const answer = await scene.client.request<Obj>("POST", ACCESS, access(attributes));
      expect(answer.code).toBe(201);
      expect(answer.body).toMatchObject({
        status: { allowed: true },
        spec: { resourceAttributes: attributes },
      });
    },
  },
  {
    name: "CORE-474 SelfSubjectReview tells user and groups",
    async run(scene) {
      await as(scene, "jane", async (client) => {
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
        const review = await client.ok<Obj>(
          "POST",
          "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          body,
        );
        expect(review.status).toMatchObject({
          userInfo: { username: "jane", groups: expect.arrayContaining(["plain", "system:authenticated"]) },
        });
      });
    },
  },
  {
    name: "CORE-474 TokenReview of a token that nobody has",
    async run(scene) {
      const body = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: "nonsense" },
      };
      const review = await scene.create("/apis/authentication.k8s.io/v1/tokenreviews", body);
      expect(review.status?.authenticated ?? false).toBe(false);
    },
  },
  {
    name: "CORE-474 a service account's token logs it in",
    async run(scene) {
      const accounts = scene.at("v1", "serviceaccounts");
      await scene.create(accounts, { metadata: { name: "robot" } });
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
      const { status } = await scene.create(`${accounts}/robot/token`, request);
      const body = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: status?.token },
      };
      const review = await scene.create("/apis/authentication.k8s.io/v1/tokenreviews", body);
      expect(review.status).toMatchObject({
        authenticated: true,
        user: {
          username: `system:serviceaccount:${scene.ns}:robot`,
          groups: expect.arrayContaining([`system:serviceaccounts:${scene.ns}`]),
        },
      });
    },
  },
  {
    name: "CORE-474 without rights a request is Forbidden, and the message says what is missing",
    async run(scene) {
      await as(scene, "jane", async (client) => {
        const answer = await client.request<Refusal>("GET", sets(scene));
        expect(answer.code).toBe(403);
        expect(answer.body).toMatchObject({
          reason: "Forbidden",
          message: `statefulsets.apps is forbidden: User "jane" cannot list resource "statefulsets" in API group "apps" in the namespace "${scene.ns}"`,
          details: { group: "apps", kind: "statefulsets" },
        });
        const one = await client.request<Refusal>("DELETE", maps(scene, "a"));
        expect(one.body.message).toBe(
          `configmaps "a" is forbidden: User "jane" cannot delete resource "configmaps" in API group "" in the namespace "${scene.ns}"`,
        );
        const wide = await client.request<Refusal>("GET", "/api/v1/nodes");
        expect(wide.body.message).toContain("at the cluster scope");
      });
    },
  },
  {
    name: "CORE-474 Role and RoleBinding give rights in their namespace",
    async run(scene) {
      await scene.create(scene.at(RBAC, "roles"), {
        metadata: { name: "reader" },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }],
      });
      await scene.create(scene.at(RBAC, "rolebindings"), {
        metadata: { name: "reader" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
        subjects: [{ kind: "User", name: `jane-${scene.id}` }],
      });
      await as(scene, `jane-${scene.id}`, async (client) => {
        await scene.eventually(async () =>
          (await client.request("GET", maps(scene))).code === 200 ? true : undefined,
        );
        expect((await client.request("POST", maps(scene), configMap("a"))).code).toBe(403);
        expect((await client.request("GET", "/api/v1/namespaces/default/configmaps")).code).toBe(403);
        const rules = await client.ok<Obj>("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectRulesReview",
          spec: { namespace: scene.ns },
        });
        expect(rules.status?.resourceRules).toContainEqual(
          expect.objectContaining({ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }),
        );
        const allowed = async (verb: string, name = ""): Promise<unknown> => {
          const attributes = { verb, resource: "configmaps", namespace: scene.ns, name };
          return (await client.ok<Obj>("POST", ACCESS, access(attributes))).status?.allowed;
        };
        expect([await allowed("list"), await allowed("create")]).toEqual([true, false]);
      });
    },
  },
  {
    name: "CORE-474 resourceNames and subresources in rules",
    async run(scene) {
      await scene.create(scene.at(RBAC, "roles"), {
        metadata: { name: "narrow" },
        rules: [
          { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get"] },
          { apiGroups: ["apps"], resources: ["statefulsets/status"], verbs: ["patch"] },
        ],
      });
      await scene.create(scene.at(RBAC, "rolebindings"), {
        metadata: { name: "narrow" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "narrow" },
        subjects: [{ kind: "User", name: `joe-${scene.id}` }],
      });
      await scene.create(maps(scene), configMap("mine"));
      await scene.create(sets(scene), statefulSet("a"));
      await as(scene, `joe-${scene.id}`, async (client) => {
        await scene.eventually(async () =>
          (await client.request("GET", maps(scene, "mine"))).code === 200 ? true : undefined,
        );
        expect((await client.request("GET", maps(scene, "other"))).code).toBe(403);
        const patch = { status: { replicas: 1 } };
        const init = { contentType: MERGE };
        expect((await client.request("PATCH", `${sets(scene, "a")}/status`, patch, init)).code).toBe(200);
        expect((await client.request("PATCH", sets(scene, "a"), {}, init)).code).toBe(403);
      });
    },
  },
  {
    name: "CORE-474 an administrator may impersonate",
    async run(scene) {
      const answer = await scene.client.request<Refusal>("GET", maps(scene), undefined, {
        headers: { "impersonate-user": "ghost", "impersonate-group": ["a", "b"] },
      });
      expect(answer.code).toBe(403);
      expect(answer.body.message).toContain('User "ghost" cannot list resource "configmaps"');
    },
  },
  {
    name: "CORE-476 a StatefulSet is completed",
    async run(scene) {
      const made = await scene.create(
        sets(scene),
        statefulSet("a", {
          volumeClaimTemplates: [
            {
              metadata: { name: "d" },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
            },
          ],
        }),
      );
      expect(made.spec).toMatchObject({
        podManagementPolicy: "OrderedReady",
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0, maxUnavailable: 1 } },
        volumeClaimTemplates: [
          {
            apiVersion: "v1",
            kind: "PersistentVolumeClaim",
            metadata: { name: "d" },
            spec: { volumeMode: "Filesystem", resources: { requests: { storage: "1Gi" } } },
            status: { phase: "Pending" },
          },
        ],
      });
      expect(made.status).toMatchObject({ replicas: 0, availableReplicas: 0 });
    },
  },
  {
    name: "CORE-476 a pod template is completed, its containers too",
    async run(scene) {
      expect(await completed(scene, {})).toEqual({
        containers: [
          {
            name: "main",
            image: "app:1",
            imagePullPolicy: "IfNotPresent",
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
          },
        ],
        restartPolicy: "Always",
        dnsPolicy: "ClusterFirst",
        schedulerName: "default-scheduler",
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      });
    },
  },
  {
    name: "CORE-476 imagePullPolicy follows the tag",
    async run(scene) {
      const policies: Record<string, string> = {
        app: "Always",
        "app:latest": "Always",
        "app:1": "IfNotPresent",
        "host:5000/app": "Always",
        "host:5000/app:2": "IfNotPresent",
        "app@sha256:4b825dc642cb6eb9a060e54bf8d69288fbee4904b825dc642cb6eb9a060e54bf": "IfNotPresent",
      };
      for (const [image, policy] of Object.entries(policies)) {
        const { containers } = await completed(scene, { containers: [{ name: "c", image }] });
        expect((containers as object[])[0], image).toMatchObject({ imagePullPolicy: policy });
      }
    },
  },
  {
    name: "CORE-476 probes, ports, env references and volumes are completed",
    async run(scene) {
      const spec = await completed(scene, {
        containers: [
          {
            ...container(),
            ports: [{ containerPort: 80 }],
            readinessProbe: { httpGet: { port: 80 } },
            livenessProbe: { tcpSocket: { port: 80 } },
            env: [
              { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "B", value: "" },
            ],
          },
        ],
        volumes: [
          { name: "map", configMap: { name: "x" } },
          { name: "secret", secret: { secretName: "x" } },
          { name: "empty", emptyDir: {} },
          { name: "projected", projected: { sources: [{ configMap: { name: "x" } }] } },
          { name: "host", hostPath: { path: "/x" } },
        ],
      });
      const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
      expect((spec.containers as object[])[0]).toMatchObject({
        ports: [{ containerPort: 80, protocol: "TCP" }],
        readinessProbe: { httpGet: { path: "/", port: 80, scheme: "HTTP" }, ...probe },
        livenessProbe: { tcpSocket: { port: 80 }, ...probe },
        env: [
          { name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
          { name: "B" },
        ],
      });
      expect(spec.volumes).toEqual([
        { name: "map", configMap: { name: "x", defaultMode: 420 } },
        { name: "secret", secret: { secretName: "x", defaultMode: 420 } },
        { name: "empty", emptyDir: {} },
        { name: "projected", projected: { sources: [{ configMap: { name: "x" } }], defaultMode: 420 } },
        { name: "host", hostPath: { path: "/x", type: "" } },
      ]);
    },
  },
  {
    name: "CORE-476 quantities are written in their shortest form",
    async run(scene) {
      const given = {
        a: "1024Mi",
        b: "1000m",
        c: "0.5",
        d: "1.5Gi",
        e: "1500M",
        f: "2",
        g: "1e3",
        h: "0.1Mi",
      };
      const limits = Object.fromEntries(Object.entries(given).map(([key, value]) => [`x.io/${key}`, value]));
      const body = { metadata: { name: "q" }, spec: { limits: [{ type: "Container", max: limits }] } };
      const made = await scene.create(`${scene.at("v1", "limitranges")}?dryRun=All`, body);
      const [{ max }] = made.spec!.limits as [{ max: Record<string, string> }];
      expect(Object.fromEntries(Object.entries(max).map(([key, value]) => [key.slice(5), value]))).toEqual({
        a: "1Gi",
        b: "1",
        c: "500m",
        d: "1536Mi",
        e: "1500M",
        f: "2",
        g: "1e3",
        h: "104857600m",
      });
    },
  },
  {
    name: "CORE-476 empty maps and lists of built-in kinds are not kept",
    async run(scene) {
      const made = await scene.create(maps(scene), {
        metadata: { name: "a", labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
        data: {},
      });
      expect(Object.keys(made).sort()).toEqual(["apiVersion", "kind", "metadata"]);
      for (const key of ["labels", "annotations", "finalizers", "ownerReferences"]) {
        expect(made.metadata).not.toHaveProperty(key);
      }
    },
  },
  {
    name: "CORE-476 a pod gets tolerations, priority and a QoS class",
    async run(scene) {
      const limits = { cpu: "1", memory: "1Gi" };
      const made = await scene.create(
        scene.at("v1", "pods"),
        pod("a", { containers: [{ ...container(), resources: { limits } }] }),
      );
      expect(made.spec).toMatchObject({
        priority: 0,
        preemptionPolicy: "PreemptLowerPriority",
        enableServiceLinks: true,
        containers: [{ resources: { limits, requests: limits } }],
        tolerations: [
          {
            key: "node.kubernetes.io/not-ready",
            operator: "Exists",
            effect: "NoExecute",
            tolerationSeconds: 300,
          },
          {
            key: "node.kubernetes.io/unreachable",
            operator: "Exists",
            effect: "NoExecute",
            tolerationSeconds: 300,
          },
        ],
      });
      expect(made.status).toMatchObject({ phase: "Pending", qosClass: "Guaranteed" });
    },
  },
  {
    name: "CORE-476 a service gets an address, families and target ports",
    async run(scene) {
      const made = await scene.create(services(scene), service("a", { ports: [{ port: 80 }] }));
      expect(made.spec).toMatchObject({
        type: "ClusterIP",
        clusterIP: expect.stringMatching(/^10\.0\.\d+\.\d+$/),
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        internalTrafficPolicy: "Cluster",
        sessionAffinity: "None",
        ports: [{ port: 80, targetPort: 80, protocol: "TCP" }],
      });
      expect(made.spec?.clusterIPs).toEqual([made.spec?.clusterIP]);
      expect(made.status).toEqual({ loadBalancer: {} });
    },
  },
  {
    name: "CORE-476 headless and node-port services",
    async run(scene) {
      const headless = await scene.create(
        services(scene),
        service("h", { clusterIP: "None", ports: undefined }),
      );
      expect(headless.spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
      const outside = await scene.create(services(scene), service("n", { type: "NodePort" }));
      const [port] = outside.spec!.ports as { nodePort: number }[];
      expect(port!.nodePort).toBeGreaterThanOrEqual(30_000);
      expect(port!.nodePort).toBeLessThanOrEqual(32_767);
      expect(outside.spec?.externalTrafficPolicy).toBe("Cluster");
    },
  },
  {
    name: "CORE-476 a service's address cannot be changed, and a PUT may leave it out",
    async run(scene) {
      const made = await scene.create(services(scene), service("a"));
      const kept = await scene.put(services(scene, "a"), service("a", { ports: [{ port: 81 }] }));
      expect(kept.spec?.clusterIP).toBe(made.spec?.clusterIP);
      const patch = { spec: { clusterIP: "10.0.0.99", clusterIPs: ["10.0.0.99"] } };
      const refusal = await scene.refused("PATCH", services(scene, "a"), patch, 422, MERGE);
      expect(refusal.message).toContain("may not change once set");
    },
  },
  {
    name: "CORE-476 a service needs ports, and names for several",
    async run(scene) {
      await scene.refused("POST", services(scene), service("a", { ports: [] }), 422);
      const refusal = await scene.refused(
        "POST",
        services(scene),
        service("a", { ports: [{ port: 1 }, { port: 2 }] }),
        422,
      );
      expect(refusal.details?.causes?.[0]?.field).toBe("spec.ports[0].name");
    },
  },
  {
    name: "CORE-476 a secret's stringData is encoded into data",
    async run(scene) {
      const path = scene.at("v1", "secrets");
      const made = await scene.create(path, {
        metadata: { name: "a" },
        stringData: { k: "v" },
        data: { b: "Yg==" },
      });
      expect(made).toMatchObject({ type: "Opaque", data: { k: "dg==", b: "Yg==" } });
      expect(made).not.toHaveProperty("stringData");
      await scene.refused("POST", path, { metadata: { name: "b" }, data: { k: "not base64!" } }, 400);
      await scene.refused("PATCH", `${path}/a`, { type: "other" }, 422, MERGE);
    },
  },
  {
    name: "CORE-476 immutable ConfigMaps and Secrets",
    async run(scene) {
      await scene.create(maps(scene), { ...(configMap("a") as Obj), immutable: true });
      const refusal = await scene.refused("PATCH", maps(scene, "a"), { data: { a: "2" } }, 422, MERGE);
      expect(refusal.details?.causes?.[0]).toMatchObject({
        field: "data",
        message: expect.stringContaining("field is immutable when `immutable` is set"),
      });
      await scene.refused("PATCH", maps(scene, "a"), { immutable: false }, 422, MERGE);
      await scene.merge(maps(scene, "a"), { metadata: { labels: { x: "y" } } });
    },
  },
  {
    name: "CORE-476 ConfigMap keys and size",
    async run(scene) {
      const refusal = await scene.refused("POST", maps(scene), configMap("a", { "a/b": "1" }), 422);
      expect(refusal.details?.causes?.[0]?.field).toBe("data[a/b]");
      await scene.create(maps(scene), configMap("fits", { a: "x".repeat(1_048_576) }));
      const large = await scene.refused(
        "POST",
        maps(scene),
        configMap("b", { a: "x".repeat(1_048_577) }),
        422,
      );
      expect(large.details?.causes?.[0]?.reason).toBe("FieldValueTooLong");
    },
  },
  {
    name: "CORE-476 what a StatefulSet's update may not change",
    async run(scene) {
      await scene.create(sets(scene), statefulSet("a"));
      const labels = { app: "b" };
      const claim = {
        metadata: { name: "d" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      };
      for (const [field, spec] of Object.entries({
        serviceName: { serviceName: "other" },
        podManagementPolicy: { podManagementPolicy: "Parallel" },
        selector: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
        volumeClaimTemplates: { volumeClaimTemplates: [claim] },
      })) {
        const refusal = await scene.refused("PATCH", sets(scene, "a"), { spec }, 422, MERGE);
        expect(refusal.details?.causes).toMatchObject([
          { field: `spec.${field}`, message: expect.stringContaining("field is immutable") },
        ]);
      }
      await scene.merge(sets(scene, "a"), { spec: { minReadySeconds: 5, revisionHistoryLimit: 3 } });
    },
  },
  {
    name: "CORE-476 a StatefulSet is checked",
    async run(scene) {
      const fields = async (spec: object): Promise<(string | undefined)[]> => {
        const refusal = await scene.refused("POST", sets(scene), statefulSet("a", spec), 422);
        return (refusal.details?.causes ?? []).map(({ field }) => field);
      };
      expect(await fields({ replicas: -1 })).toContain("spec.replicas");
      expect(await fields({ selector: { matchLabels: { app: "other" } } })).toContain(
        "spec.template.metadata.labels",
      );
      const template = (spec: object): object => ({ template: { metadata: { labels: { app: "a" } }, spec } });
      expect(await fields(template({ containers: [] }))).toContain("spec.template.spec.containers");
      expect(await fields(template({ containers: [{ name: "c" }] }))).toContain(
        "spec.template.spec.containers[0].image",
      );
      expect(await fields(template({ containers: [container()], restartPolicy: "Never" }))).toContain(
        "spec.template.spec.restartPolicy",
      );
      const mount = { ...container(), volumeMounts: [{ name: "none", mountPath: "/x" }] };
      expect(await fields(template({ containers: [mount] }))).toContain(
        "spec.template.spec.containers[0].volumeMounts[0].name",
      );
    },
  },
  {
    name: "CORE-476 a pod's update may change images and add tolerations, nothing else",
    async run(scene) {
      const path = scene.at("v1", "pods", "a");
      const made = await scene.create(scene.at("v1", "pods"), pod("a"));
      const [first] = made.spec!.containers as object[];
      await scene.put(path, { ...made, spec: { ...made.spec, containers: [{ ...first, image: "app:2" }] } });
      const now = await scene.get(path);
      const tolerations = [...(now.spec!.tolerations as object[]), { key: "x", operator: "Exists" }];
      await scene.merge(path, { spec: { tolerations } });
      for (const [part, spec] of Object.entries({
        "existing toleration can not be modified except its tolerationSeconds": { tolerations: [] },
        "pod updates may not add or remove containers": {
          containers: [first, { name: "more", image: "a:1" }],
        },
        "pod updates may not change fields other than": { hostNetwork: true },
      })) {
        const refusal = await scene.refused("PATCH", path, { spec }, 422, MERGE);
        expect(refusal.message).toContain(part);
      }
    },
  },
  {
    name: "CORE-136 binding puts a pod on a node, once",
    async run(scene) {
      const path = scene.at("v1", "pods", "a");
      await scene.create(scene.at("v1", "pods"), pod("a"));
      const binding = {
        metadata: { name: "a" },
        target: { apiVersion: "v1", kind: "Node", name: "no-such-node" },
      };
      await scene.create(`${path}/binding`, binding);
      const bound = await scene.get(path);
      expect(bound.spec?.nodeName).toBe("no-such-node");
      expect(bound.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "PodScheduled", status: "True" }),
      );
      await scene.refused("POST", `${path}/binding`, binding, 409);
      await scene.remove(path, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: "CORE-136 an eviction deletes a pod",
    async run(scene) {
      const path = scene.at("v1", "pods", "a");
      await scene.create(scene.at("v1", "pods"), pod("a"));
      const eviction = {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "a", namespace: scene.ns },
      };
      await scene.create(`${path}/eviction`, eviction);
      await scene.refused("GET", path, undefined, 404);
    },
  },
  {
    name: "CORE-289 events of events.k8s.io are the events of core/v1",
    async run(scene) {
      const event = {
        metadata: { name: "e" },
        eventTime: "2024-05-06T07:08:09.123456Z",
        reportingController: "quartet.io/test",
        reportingInstance: "one",
        action: "Testing",
        reason: "Tested",
        type: "Normal",
        note: "all is well",
        regarding: { kind: "ConfigMap", namespace: scene.ns, name: "a" },
      };
      await scene.create(scene.at("events.k8s.io/v1", "events"), event);
      expect(await scene.get(scene.at("v1", "events", "e"))).toMatchObject({
        apiVersion: "v1",
        kind: "Event",
        message: "all is well",
        reason: "Tested",
        reportingComponent: "quartet.io/test",
        involvedObject: { kind: "ConfigMap", name: "a" },
        eventTime: "2024-05-06T07:08:09.123456Z",
      });
      const found = await scene.list(`${scene.at("v1", "events")}?fieldSelector=involvedObject.name%3Da`);
      expect(found.items).toHaveLength(1);
    },
  },
  {
    name: "CORE-289 what an event of events.k8s.io must have",
    async run(scene) {
      const path = scene.at("events.k8s.io/v1", "events");
      const event = {
        metadata: { name: "e" },
        eventTime: "2024-05-06T07:08:09.123456Z",
        reportingController: "quartet.io/test",
        reportingInstance: "one",
        action: "Testing",
        reason: "Tested",
        type: "Normal",
        regarding: { kind: "ConfigMap", namespace: scene.ns, name: "a" },
      };
      for (const wrong of [
        { reportingController: "" },
        { reportingInstance: "" },
        { action: "" },
        { reason: "" },
        { type: "Odd" },
        { eventTime: null },
        { note: "x".repeat(1025) },
        { reason: "x".repeat(129) },
      ]) {
        await scene.refused("POST", path, { ...event, ...wrong }, 422);
      }
      await scene.create(path, { ...event, note: "x".repeat(1024) });
      const series = { count: 2, lastObservedTime: "2024-05-06T07:09:09.123456Z" };
      expect((await scene.merge(`${path}/e`, { series })).series).toEqual(series);
    },
  },
  {
    name: "CORE-476 a job labels its pods and selects them by its uid",
    async run(scene) {
      const made = await scene.create(scene.at("batch/v1", "jobs"), {
        metadata: { name: "j" },
        spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [container()] } } },
      });
      const { uid } = made.metadata;
      expect(made.spec).toMatchObject({
        backoffLimit: 6,
        completions: 1,
        parallelism: 1,
        completionMode: "NonIndexed",
        selector: { matchLabels: { "batch.kubernetes.io/controller-uid": uid } },
        template: {
          metadata: {
            labels: { "job-name": "j", "batch.kubernetes.io/job-name": "j", "controller-uid": uid },
          },
        },
      });
    },
  },
];
