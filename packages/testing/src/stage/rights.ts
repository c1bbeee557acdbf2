/** Rights of managers in tests: those that their modules declare. */
import {
  type ControllerModule,
  checkRights,
  createLogging,
  defaultFlags,
  neededRights,
  parseLogLevels,
  type RbacOptions,
  rbacFor,
} from "@quartet/core";
import { parseAllDocuments } from "yaml";
import type { ApiServer } from "../api-server.ts";
import { type TestClient, testClient } from "../request.ts";
import { eventually } from "./eventually.ts";

interface Role {
  kind: "Role" | "ClusterRole";
  metadata: { name: string; namespace?: string };
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const API_GROUP = "rbac.authorization.k8s.io";
/** The server learns of new roles by watches of its own. */
const RIGHTS_MS = 30_000;

export interface Grant {
  readonly server: ApiServer;
  /** Of an administrator. */
  readonly client: TestClient;
  readonly modules: readonly ControllerModule[];
  /** Of the roles' names. */
  readonly release: string;
  /** Of the manager's own objects. Default: `release`. */
  readonly releaseNamespace?: string;
  /** Namespaces to work in; empty means all. */
  readonly namespaces: readonly string[];
  readonly user: string;
}

/**
 * Applies the roles that `--print-rbac` prints, each bound to the user, and resolves when the server goes by them. The
 * returned function takes the cluster-wide ones away.
 */
export async function grantRights(grant: Grant): Promise<() => Promise<void>> {
  const { client, modules, release, releaseNamespace = release, namespaces, user } = grant;
  const options: RbacOptions = {
    release,
    leaseName: "quartet-manager",
    webhooks: true,
    ownCertificates: true,
    metricsSecure: false,
    flags: defaultFlags(modules.flatMap((module) => module.flags)),
    releaseNamespace,
    namespaces,
  };
  const clusterWide: string[] = [];
  for (const document of parseAllDocuments(rbacFor(modules, options))) {
    const role = document.toJS() as Role;
    await bind(client, role, user);
    if (role.kind === "ClusterRole") clusterWide.push(role.metadata.name);
  }
  await untilEffective(grant, options);
  return async () => {
    for (const name of clusterWide) {
      await client.request("DELETE", `${RBAC}/clusterrolebindings/${name}`);
      await client.request("DELETE", `${RBAC}/clusterroles/${name}`);
    }
  };
}

async function bind(client: TestClient, role: Role, user: string): Promise<void> {
  const { kind, metadata } = role;
  const base = metadata.namespace === undefined ? RBAC : `${RBAC}/namespaces/${metadata.namespace}`;
  const apply = (path: string, body: object): Promise<unknown> =>
    client.ok("PATCH", `${base}/${path}/${metadata.name}?fieldManager=stage&force=true`, body, {
      contentType: "application/apply-patch+yaml",
    });
  await apply(`${kind.toLowerCase()}s`, role);
  await apply(`${kind.toLowerCase()}bindings`, {
    apiVersion: `${API_GROUP}/v1`,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: API_GROUP, kind, name: metadata.name },
    subjects: [{ apiGroup: API_GROUP, kind: "User", name: user }],
  });
}

async function untilEffective(
  { server, modules, namespaces, user }: Grant,
  options: RbacOptions,
): Promise<void> {
  const asUser = testClient(await server.kubeconfig({ user, groups: [] }));
  try {
    const asked = {
      client: {
        raw: (method: string, path: string, body?: unknown) => asUser.ok(method, path, body as object),
      },
      rights: neededRights(modules, options),
      releaseNamespace: options.releaseNamespace,
      namespaces,
      log: createLogging({ levels: parseLogLevels("error") }).log,
    };
    await eventually(() => checkRights(asked), RIGHTS_MS);
  } finally {
    asUser.close();
  }
}

/** The module with the rights alone that pass: a verb, and a resource as `group/plural[/subresource]`. */
export function narrowed(
  module: ControllerModule,
  keep: (verb: string, resource: string) => boolean,
): ControllerModule {
  const rights = module.rights.map((right) => {
    const { group, plural } = right.kind;
    const resource = [group, plural, ...(right.subresource === undefined ? [] : [right.subresource])].join(
      "/",
    );
    return { ...right, verbs: right.verbs.filter((verb) => keep(verb, resource)) };
  });
  return { ...module, rights: rights.filter(({ verbs }) => verbs.length > 0) };
}
