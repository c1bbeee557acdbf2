/** ConfigMaps and Secrets of a test's namespace on a real API server. */
import { type ControlPlane, type TestClient, testClient, testNamespace } from "@quartet/testing";
import { createScene, type RunningAgent, type Scene } from "./agent.testkit.ts";

export interface Cluster {
  readonly scene: Scene;
  readonly admin: TestClient;
  readonly namespace: string;
  /** Makes or replaces an object of the namespace. */
  apply(resource: "configmaps" | "secrets", name: string, object: object): Promise<void>;
  patch(resource: "configmaps" | "secrets", name: string, patch: object): Promise<void>;
  remove(resource: "configmaps" | "secrets", name: string): Promise<void>;
  /** Gives a user the rights that an agent needs for the objects, by a Role of the name. */
  grant(role: string, user: string, objects: readonly Granted[]): Promise<void>;
  /** Takes them away again. */
  revoke(role: string): Promise<void>;
  /** Address of the API server, and the one that agents use from now on. */
  readonly server: string;
  through(address: string): void;
  /** Flags of an agent that is the user; the administrator unless named. */
  args(user?: string): Promise<string[]>;
  watch(user?: string, ...more: string[]): Promise<RunningAgent>;
  close(): Promise<void>;
}

export interface Granted {
  readonly resource: "configmaps" | "secrets";
  readonly name: string;
}

export async function createCluster(plane: ControlPlane): Promise<Cluster> {
  const admin = testClient(await plane.kubeconfig());
  const scene = createScene();
  const { name: namespace, empty } = await testNamespace(admin);
  const path = (resource: string, name = ""): string => `/api/v1/namespaces/${namespace}/${resource}/${name}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const server = /server: *"?(https?:[^"\s]+)/.exec(await plane.kubeconfig())![1]!;
  let used = server;
  const args = async (user?: string): Promise<string[]> => {
    const file = `kubeconfig-${user ?? "admin"}`;
    const config = await plane.kubeconfig(
      user === undefined ? {} : { user, groups: ["system:authenticated"] },
    );
    scene.write(file, config.replace(server, used));
    const access = [
      "--kubeconfig",
      scene.path(file),
      "--kube-namespace",
      namespace,
      "--backend-timeout",
      "60s",
    ];
    return [
      "--backend",
      "kubernetes",
      ...access,
      "--watch-error-backoff",
      "100ms",
      "--watch-error-backoff-max",
      "1s",
    ];
  };
  return {
    scene,
    admin,
    namespace,
    args,
    server,
    through: (address) => {
      used = `https://${address}`;
    },
    grant: async (role, user, objects) => {
      await admin.ok("POST", `${rbac}/roles`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: role },
        rules: objects.map(({ resource, name }) => ({
          apiGroups: [""],
          resources: [resource],
          resourceNames: [name],
          verbs: ["get", "list", "watch"],
        })),
      });
      await admin.ok("POST", `${rbac}/rolebindings`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: role },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
      });
    },
    revoke: async (role) => {
      for (const kind of ["rolebindings", "roles"]) await admin.ok("DELETE", `${rbac}/${kind}/${role}`);
    },
    apply: async (resource, name, object) => {
      const kind = resource === "secrets" ? "Secret" : "ConfigMap";
      const body = { apiVersion: "v1", kind, metadata: { name }, ...object };
      const { code } = await admin.request("PUT", path(resource, name), body);
      if (code === 404) await admin.ok("POST", path(resource), body);
    },
    patch: async (resource, name, patch) =>
      void (await admin.ok("PATCH", path(resource, name), patch, {
        contentType: "application/merge-patch+json",
      })),
    remove: async (resource, name) => void (await admin.ok("DELETE", path(resource, name))),
    watch: async (user, ...more) => scene.start([...(await args(user)), "--watch", ...more]),
    close: async () => {
      await scene.close();
      await empty();
      admin.close();
    },
  };
}
