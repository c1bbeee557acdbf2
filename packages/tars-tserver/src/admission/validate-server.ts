/** What a TServer must be (V-001 to 028). */
import type { DeepReadonly } from "@quartet/core";
import { isDnsSubdomain } from "@quartet/core";
import type { TServer } from "../api.gen.ts";
import { abilityKeys } from "../desired/affinity.ts";
import type { Port, Servant, Spec } from "../desired/model.ts";
import { isPortName } from "../desired/ports.ts";
import { isClaimed } from "../desired/volumes.ts";
import {
  DELAY_BIND_CLAIM,
  NODE_LABEL_PREFIX,
  NODE_PORT,
  objectName,
  TIMEZONE_VOLUME,
  WORK_DIR_VOLUME,
} from "../labels.ts";
import { type Denial, first, immutable, invalid, missing, newOffence, type Offence } from "./denial.ts";

/** Names of this length and more are refused. */
const MAX_NAME = 59;
/** Longest name of a StatefulSet that can make pods: their label has 63 characters, eleven of which are the hash. */
const MAX_POD_OWNER = 52;
/** Longest name part of a label key. */
const MAX_LABEL_NAME = 63;
const RESERVED_SERVANT = "nodeobj";
const RESERVED_VOLUMES: ReadonlySet<string> = new Set([TIMEZONE_VOLUME, WORK_DIR_VOLUME, DELAY_BIND_CLAIM]);

/** A server and what is known of its surroundings. */
export interface ServerQuestion {
  readonly name: string;
  readonly namespace: string;
  readonly spec: Spec;
  /** The spec before an update. */
  readonly old: Spec | undefined;
  /** Version that it is written in; the peer spells one text differently. */
  readonly version: string;
  /** Whether the TTemplate of `spec.tars.template` is in the namespace. */
  readonly templateExists: boolean;
}

/** Why a server is refused. */
export function validateServer(question: ServerQuestion): Denial {
  const { spec, old } = question;
  return first(
    () => (old === undefined ? undefined : unchanged(spec, old)),
    () => nameDenial(question),
    () => blockDenial(spec),
    () => portsDenial(question),
    () => hostPortsDenial(spec),
    () => mountsDenial(question),
    () => newOffence(offences(question), old && offences({ ...question, spec: old })),
  );
}

/** What a user should know although the server is accepted. */
export function serverWarnings({ name, spec }: Pick<ServerQuestion, "name" | "spec">): string[] {
  const account = spec.k8s?.serviceAccount;
  const long = name.length > MAX_POD_OWNER && spec.k8s?.daemonSet !== true;
  return [
    ...(long
      ? [
          `metadata.name: a StatefulSet of ${name.length} characters cannot create pods; ${MAX_POD_OWNER} are the limit`,
        ]
      : []),
    ...(account && !isDnsSubdomain(account)
      ? [`spec.k8s.serviceAccount: ${account} is no name of a service account; it must be lower case`]
      : []),
    ...(spec.subType === "tars" && spec.tars === undefined
      ? ["spec.subType: is tars, but there is only spec.normal; tarsnode will find no servant to run"]
      : []),
  ];
}

function unchanged(now: Spec, old: Spec): Denial {
  const changed = (["app", "server", "subType"] as const).find((field) => now[field] !== old[field]);
  if (changed !== undefined) return immutable("tserver", `.spec.${changed}`);
  const added = (["tars", "normal"] as const).find(
    (block) => old[block] === undefined && now[block] !== undefined,
  );
  if (added !== undefined) return immutable("tserver", `.spec.${added}`);
  const removed = (["k8s", "tars", "normal"] as const).find(
    (block) => old[block] !== undefined && now[block] === undefined,
  );
  // Stored with both blocks, it may lose the one that its sub-type does not name (M-018).
  if (removed === undefined || (removed !== "k8s" && old.tars && old.normal)) return undefined;
  return immutable("tserver", `.spec.${removed}`);
}

function nameDenial({ name, spec }: ServerQuestion): Denial {
  if (name !== objectName(spec.app, spec.server)) return invalid("tserver", "unexpected resource name");
  return name.length < MAX_NAME
    ? undefined
    : invalid("tserver", "length of resource name should less then 59");
}

function blockDenial({ subType, normal }: Spec): Denial {
  if (subType !== "normal" || normal !== undefined) return undefined;
  return invalid("tserver", "spec.normal is missing although spec.subType is normal");
}

function portsDenial({ namespace, spec, templateExists }: ServerQuestion): Denial {
  const { tars, normal } = spec;
  if (tars === undefined) return listDenial([], normal?.ports ?? [], "port");
  const servants = tars.servants ?? [];
  return first(
    () => listDenial([], servants, "servant", "servants port"),
    () => listDenial(servants, tars.ports ?? [], "port", "port"),
    () => (templateExists ? undefined : missing("ttemplate", namespace, tars.template)),
  );
}

type Named = Pick<Servant | Port, "name" | "port">;

/**
 * Names without regard to case, and numbers, occur once. The first one that is wrong is told, as by the peer.
 * @param what what an entry is called; with `reserved`, in whose words the port of tarsnode is refused, that is too
 */
function listDenial(
  before: readonly Named[],
  list: readonly Named[],
  what: string,
  reserved?: string,
): Denial {
  const names = new Set(before.map(({ name }) => name.toLowerCase()));
  const numbers = new Set(before.map(({ port }) => port));
  for (const port of list) {
    const name = port.name.toLowerCase();
    if (reserved !== undefined && port.port === NODE_PORT) {
      return invalid("tserver", `${reserved} value should not equal ${NODE_PORT}`);
    }
    if (names.has(name)) return invalid("tserver", `duplicate ${what} name value ${port.name}`);
    if (numbers.has(port.port)) return invalid("tserver", `duplicate port value ${port.port}`);
    names.add(name);
    numbers.add(port.port);
  }
  return undefined;
}

function hostPortsDenial({ tars, normal, k8s }: Spec): Denial {
  const all: Named[] =
    tars === undefined ? [...(normal?.ports ?? [])] : [...(tars.servants ?? []), ...(tars.ports ?? [])];
  const known = new Set(all.map(({ name }) => name.toLowerCase()));
  const names = new Set<string>();
  const numbers = new Set<number>();
  for (const { nameRef, port } of k8s?.hostPorts ?? []) {
    const name = nameRef.toLowerCase();
    if (!known.has(name)) return invalid("tserver", `port name ${nameRef} not exist`);
    if (names.has(name)) return invalid("tserver", `duplicate nameRef value ${nameRef}`);
    if (numbers.has(port)) return invalid("tserver", `duplicate port value ${port}`);
    names.add(name);
    numbers.add(port);
  }
  return undefined;
}

function mountsDenial({ spec: { k8s }, version }: ServerQuestion): Denial {
  const local = version === "v1beta3" ? "TLocalVolume" : "TLocalVolue";
  const names = new Set<string>();
  for (const mount of k8s?.mounts ?? []) {
    const { name = "" } = mount;
    if (names.has(name)) return invalid("tserver", `duplicate .mounts.name value ${name}`);
    if (k8s?.daemonSet === true && isClaimed(mount)) {
      const problem = `can not use ${local} and PersistentVolumeClaimTemplate when .daemonSet value is true`;
      return invalid("tserver", problem);
    }
    names.add(name);
  }
  return undefined;
}

/** What the peer stores although nothing comes of it: refused, unless it is there already. */
function offences({ namespace, spec }: Pick<ServerQuestion, "namespace" | "spec">): Offence[] {
  const at = (path: string, value: unknown, problem: string): Offence => {
    return { id: `${path}=${String(value)}`, text: invalid("tserver", `${path}: ${problem}`) };
  };
  return [
    ...servantOffences(spec, at),
    ...portNameOffences(spec, at),
    ...mountOffences(spec, at),
    ...nodeOffences(namespace, spec, at),
  ];
}

/** What of a server that is there would be refused in a new one. */
export function serverOffences(namespace: string, spec: Spec): string[] {
  return offences({ namespace, spec }).map(({ text }) => text);
}

type At = (path: string, value: unknown, problem: string) => Offence;

function servantOffences({ tars }: Spec, at: At): Offence[] {
  return (tars?.servants ?? [])
    .filter(({ name }) => name.toLowerCase() === RESERVED_SERVANT)
    .map(({ name }) =>
      at("spec.tars.servants.name", name, `${name} is reserved for tarsnode; choose another name`),
    );
}

function portNameOffences({ tars, normal }: Spec, at: At): Offence[] {
  const lists = [
    ["spec.tars.ports.name", tars?.ports ?? []],
    ["spec.normal.ports.name", normal?.ports ?? []],
  ] as const;
  return lists.flatMap(([path, ports]) =>
    ports
      .filter(({ name }) => !isPortName(name))
      .map(({ name }) =>
        at(path, name, `${name} is no name of a port; it needs a letter and no double dash`),
      ),
  );
}

const VOLUME_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LOCAL_MODE = /^0?[0-7]{3}$/;

function mountOffences({ k8s }: Spec, at: At): Offence[] {
  const path = "spec.k8s.mounts";
  return (k8s?.mounts ?? []).flatMap((mount, index) => {
    const { name, source, mountPath, subPath, subPathExpr } = mount;
    const of = (field: string, value: unknown, problem: string): Offence =>
      at(`${path}.${name ?? index}.${field}`, value, problem);
    const found: Offence[] = [];
    if (name === undefined || !VOLUME_NAME.test(name))
      found.push(of("name", name, "must be a lower-case DNS label"));
    else if (RESERVED_VOLUMES.has(name))
      found.push(of("name", name, `${name} is reserved; choose another name`));
    if (!mountPath) found.push(of("mountPath", mountPath, "is missing"));
    if (source === undefined) found.push(of("source", "", "is missing; name exactly one"));
    if (subPath && subPathExpr)
      found.push(of("subPathExpr", subPathExpr, "excludes subPath; keep one of them"));
    const mode = source?.tLocalVolume?.mode;
    if (mode !== undefined && !LOCAL_MODE.test(mode))
      found.push(of("mode", mode, "must be octal, such as 755"));
    return [...found, ...itemOffences(mount, of)];
  });
}

function itemOffences(
  { source }: NonNullable<NonNullable<Spec["k8s"]>["mounts"]>[number],
  of: (field: string, value: unknown, problem: string) => Offence,
): Offence[] {
  const items = [...(source?.configMap?.items ?? []), ...(source?.secret?.items ?? [])];
  return items
    .filter(({ key, path }) => !key || !path)
    .map(({ key, path }) => of("items", `${key}:${path}`, "key and path are both needed"));
}

function nodeOffences(namespace: string, { app, server, k8s }: Spec, at: At): Offence[] {
  const found = (k8s?.nodeSelector ?? [])
    .filter(({ key, operator }) => !key || !operator)
    .map(({ key, operator }) =>
      at("spec.k8s.nodeSelector", `${key}:${operator}`, "key and operator are both needed"),
    );
  const long = (key: string): boolean => key.slice(key.indexOf("/") + 1).length > MAX_LABEL_NAME;
  const node = `${NODE_LABEL_PREFIX}${namespace}`;
  if (long(node))
    found.push(at("metadata.namespace", namespace, `${node} is no label key; take a shorter namespace`));
  const key = abilityKeys({ namespace, app, server }).server;
  const wanted = k8s?.abilityAffinity ?? "AppOrServerPreferred";
  if (wanted !== "None" && k8s?.daemonSet !== true && long(key)) {
    found.push(
      at("spec.k8s.abilityAffinity", wanted, `${key} is too long for a label key; only None is possible`),
    );
  }
  return found;
}

/** The spec of the TServer that a TDeploy asks for. */
export function deployedSpec(
  apply: DeepReadonly<TServer["spec"]> & { mark?: string; person?: string },
): Spec {
  const { mark: _mark, person: _person, ...spec } = apply;
  return spec as Spec;
}
