/** Makes the server of an approved request (R-060 to 066). */
import {
  type DeepReadonly,
  isAlreadyExists,
  isNamespaceTerminating,
  keyOf,
  keyToString,
  messageOf,
  mutable,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";
import type { TDeploy, TServer } from "../api.gen.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_DEPLOY, T_SERVER } from "../kinds.ts";
import { APP_LABEL, objectName, SERVER_LABEL, SUB_TYPE_LABEL } from "../labels.ts";
import type { Lookups } from "../sources.ts";

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
export function createDeployReconcile(lookups: (signal: AbortSignal) => Promise<Lookups>): Reconcile {
  /** Requests whose server was made here and that could not be closed yet. */
  const made = new Set<string>();
  return async (key, ctx) => {
    const { client, cache, signal } = ctx;
    const deploy = await cache.get(T_DEPLOY, key);
    const id = keyToString(key);
    const isOpen = deploy?.approve?.result === true && deploy.deployed !== true;
    if (deploy === undefined || deploy.metadata.deletionTimestamp !== undefined || !isOpen) {
      made.delete(id);
      return;
    }
    if (!made.has(id)) {
      const outcome = await makeServer(deploy as DeepReadonly<TDeploy>, await lookups(signal), ctx);
      if (outcome === "ends") return;
      if (outcome === "made") made.add(id);
    }
    // Last, so that a process that dies in between is followed by one that tries again (D16).
    await client.patch(
      T_DEPLOY,
      keyOf(deploy),
      { type: "merge", body: { deployed: true } },
      { signal, fieldManager: FIELD_MANAGER },
    );
  };
}

/** `ends`: the request goes with its namespace. */
async function makeServer(
  deploy: DeepReadonly<TDeploy>,
  lookups: Lookups,
  { client, signal, events }: ReconcileContext,
): Promise<"made" | "exists" | "ends"> {
  const server = deployedServer(mutable(deploy) as unknown as Request);
  const { namespace = "", name = "" } = server.metadata;
  try {
    // What is known to be there is not asked for again in each try.
    if (lookups.server(namespace, name) === undefined) {
      await client.create(T_SERVER, server, { signal, fieldManager: FIELD_MANAGER });
      const note = `TServer ${namespace}/${name} is created`;
      events.record(deploy, { type: "Normal", reason: "Deployed", note });
      return "made";
    }
  } catch (error) {
    if (isNamespaceTerminating(error)) return "ends";
    if (!isAlreadyExists(error)) {
      events.record(deploy, { type: "Warning", reason: "DeployFailed", note: messageOf(error) });
      throw error;
    }
  }
  const note = `TServer ${namespace}/${name} exists already and is left as it is`;
  events.record(deploy, { type: "Warning", reason: "AlreadyExists", note });
  return "exists";
}
