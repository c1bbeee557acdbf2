/** TEndpoint and TExitedRecord of a server (MAP-090 to 093). */
import { type DeepReadonly, sameJson } from "@quartet/core";
import type { TEndpoint, TExitedRecord, TServer } from "../api.gen.ts";
import { T_ENDPOINT, T_EXITED_RECORD } from "../kinds.ts";
import { sameStored } from "./compare.ts";
import { modelOf, type Servant, type ServerModel, type Tars } from "./model.ts";
import type { Step } from "./sync.ts";
import { childMetadata } from "./workloads.ts";

/** Labels of this group travel from the server to its endpoint. */
const OWN_LABELS = "tars.io/";
/** Defaults of the schema, for objects that were stored without them: the registry decodes no endpoint without. */
const SERVANT: Omit<Required<Servant>, "name" | "port" | "isTaf"> = {
  thread: 3,
  capacity: 10000,
  connection: 10000,
  isTars: true,
  isTcp: true,
  timeout: 60000,
};
const ASYNC_THREAD = 3;
const IMPORTANT = 3;

type EndpointSpec = NonNullable<TEndpoint["spec"]>;

/** The endpoint of a server, without the state of its pods. */
export function desiredEndpoint(tserver: DeepReadonly<TServer>): TEndpoint {
  const model = modelOf(tserver);
  const metadata = childMetadata(model);
  const own = Object.entries(tserver.metadata.labels ?? {}).filter(([label]) => label.startsWith(OWN_LABELS));
  return {
    apiVersion: `${T_ENDPOINT.group}/${T_ENDPOINT.version}`,
    kind: T_ENDPOINT.kind,
    metadata: { ...metadata, labels: { ...Object.fromEntries(own), ...metadata.labels } },
    spec: endpointSpec(model),
  };
}

function endpointSpec({ app, server, spec, k8s, released }: ServerModel): EndpointSpec {
  const { subType, important = IMPORTANT, tars, normal } = spec;
  return {
    app,
    server,
    subType,
    important,
    ...(tars && { tars: completeTars(tars) }),
    ...(normal && { normal: structuredClone(normal) as NonNullable<EndpointSpec["normal"]> }),
    ...(k8s.hostPorts && { hostPorts: k8s.hostPorts.map((port) => ({ ...port })) }),
    ...(released && { release: { ...released } }),
  };
}

/** The TARS part with all members that its reader expects. */
function completeTars({
  template,
  profile = "",
  asyncThread = ASYNC_THREAD,
  servants,
  ports,
}: Tars): NonNullable<EndpointSpec["tars"]> {
  return {
    template,
    profile,
    asyncThread,
    servants: (servants ?? []).map(({ isTaf: _none, ...servant }) => ({ ...SERVANT, ...servant })),
    ...(ports && { ports: ports.map((port) => ({ ...port })) }),
  };
}

/** Brings the endpoint to what is wanted; its status is left alone. */
export function syncEndpoint(wanted: TEndpoint, live: DeepReadonly<TEndpoint> | undefined): Step<TEndpoint> {
  if (live === undefined) return { action: "create", object: wanted };
  const next = structuredClone(live) as TEndpoint;
  const foreign = Object.entries(live.metadata.labels ?? {}).filter(
    ([label]) => !label.startsWith(OWN_LABELS),
  );
  next.metadata.labels = { ...Object.fromEntries(foreign), ...wanted.metadata.labels };
  next.spec = wanted.spec!;
  // Here an absent member is not the same as an empty one.
  const same =
    sameJson(next.metadata, live.metadata) &&
    sameMembers(next.spec, live.spec) &&
    sameStored(next.spec, live.spec);
  return same ? { action: "none" } : { action: "update", object: next };
}

/** The members of the TARS part that a reader cannot do without are there. */
function sameMembers(next: EndpointSpec, live: DeepReadonly<EndpointSpec> | undefined): boolean {
  const members = (spec: DeepReadonly<EndpointSpec> | undefined): string[][] =>
    [spec?.tars ?? {}, ...(spec?.tars?.servants ?? [])].map((map) => Object.keys(map).sort());
  return JSON.stringify(members(next)) === JSON.stringify(members(live));
}

/** The record of a new server. */
export function desiredExitedRecord(tserver: DeepReadonly<TServer>): TExitedRecord {
  const model = modelOf(tserver);
  return {
    apiVersion: `${T_EXITED_RECORD.group}/${T_EXITED_RECORD.version}`,
    kind: T_EXITED_RECORD.kind,
    metadata: childMetadata(model),
    app: model.app,
    server: model.server,
    pods: [],
  };
}
