/** Makes the server of an approved request (R-060 to 066). */
import {
  isAlreadyExists,
  isNamespaceTerminating,
  keyOf,
  messageOf,
  mutable,
  type Reconcile,
} from "@quartet/core";
import type { TDeploy, TServer } from "../api.gen.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_DEPLOY, T_SERVER } from "../kinds.ts";
import { APP_LABEL, objectName, SERVER_LABEL, SUB_TYPE_LABEL } from "../labels.ts";

type Request = Pick<TDeploy, "apply" | "metadata">;

/** The server that a request asks for. */
export function deployedServer({ apply, metadata }: Request): TServer {
  const {
    mark: _mark,
    person: _person,
    ...spec
  } = apply as TDeploy["apply"] & { mark?: string; person?: string };
  return {
    apiVersion: `${T_SERVER.group}/${T_SERVER.version}`,
    kind: T_SERVER.kind,
    metadata: {
      name: objectName(spec.app, spec.server),
      namespace: metadata.namespace ?? "",
      labels: { [APP_LABEL]: spec.app, [SERVER_LABEL]: spec.server, [SUB_TYPE_LABEL]: spec.subType },
    },
    spec: spec as TServer["spec"],
  };
}

/** The reconcile of requests. */
export const reconcileDeploy: Reconcile = async (key, { client, cache, signal, events }) => {
  const deploy = await cache.get(T_DEPLOY, key);
  if (deploy === undefined || deploy.metadata.deletionTimestamp !== undefined) return;
  if (deploy.approve?.result !== true || deploy.deployed === true) return;
  const server = deployedServer(mutable(deploy) as unknown as Request);
  const options = { signal, fieldManager: FIELD_MANAGER };
  const { namespace, name } = server.metadata;
  try {
    await client.create(T_SERVER, server, options);
    events.record(deploy, {
      type: "Normal",
      reason: "Deployed",
      note: `TServer ${namespace}/${name} is created`,
    });
  } catch (error) {
    // The request goes with its namespace.
    if (isNamespaceTerminating(error)) return;
    if (!isAlreadyExists(error)) {
      events.record(deploy, { type: "Warning", reason: "DeployFailed", note: messageOf(error) });
      throw error;
    }
    const note = `TServer ${namespace}/${name} exists already and is left as it is`;
    events.record(deploy, { type: "Warning", reason: "AlreadyExists", note });
  }
  // Last, so that a process that dies in between is followed by one that tries again (D16).
  await client.patch(T_DEPLOY, keyOf(deploy), { type: "merge", body: { deployed: true } }, options);
};
