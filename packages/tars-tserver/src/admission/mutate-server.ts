/** Defaulting of TServers, in both versions (M-001 to 019). */
import type { DeepReadonly } from "@quartet/core";
import { isMap } from "@quartet/pod-template";
import type { TImage, TServer } from "../api.gen.ts";
import { isCarryBroken, withoutCarry } from "../conversion/carry.ts";
import type { NodeImage } from "../desired/model.ts";
import { boundsOf, clamp } from "../desired/replicas.ts";
import {
  ACTIVE_GATE,
  APP_LABEL,
  AUTO_RELEASE_ANNOTATION,
  CARRY_ANNOTATION,
  RELEASE_LABEL,
  SERVER_LABEL,
  SUB_TYPE_LABEL,
  TEMPLATE_LABEL,
} from "../labels.ts";
import { invalid } from "./denial.ts";
import { setLabels } from "./labels.ts";

/** A TServer of either version. */
export interface AnyServer extends TServer {
  spec: TServer["spec"] & { k8s?: TServer["spec"]["k8s"] & { readinessGates?: string[] } };
}

/** What the defaults of a TServer follow from. */
export interface ServerFacts {
  /** The framework's image of tarsnode. */
  readonly nodeImage: NodeImage | undefined;
  /** Images of this very server, for those that are released by themselves. */
  readonly images: readonly DeepReadonly<TImage>[];
  /** RFC 3339, UTC, whole seconds. */
  readonly now: string;
  warn(text: string): void;
}

/** The server with its defaults, or why it is refused. What has not the form of the schema is left for that to refuse. */
export function mutateServer(object: AnyServer, facts: ServerFacts): AnyServer | string {
  if (!hasForm(object)) return object;
  dropOtherBlock(object, facts);
  dropBrokenCarry(object, facts);
  const { spec } = object;
  const { k8s, normal } = spec;
  // An update may leave the list out; the schema then asks for it.
  if (normal !== undefined) normal.ports ??= [];
  if (k8s !== undefined) {
    setGates(object);
    if ((k8s.hostPorts?.length ?? 0) > 0 || k8s.hostIPC === true) k8s.notStacked = true;
  }
  autoRelease(object, facts);
  // Of two faults the peer tells that of the annotations.
  const denial = setReplicas(object) ?? completeRelease(object, facts);
  if (denial !== undefined) return denial;
  setLabels(object, {
    [APP_LABEL]: spec.app,
    [SERVER_LABEL]: spec.server,
    [SUB_TYPE_LABEL]: spec.subType,
    [TEMPLATE_LABEL]: spec.tars?.template,
    [RELEASE_LABEL]: spec.release?.id,
  });
  return object;
}

/** True when the parts that are looked at are objects, or absent. */
function hasForm({ spec }: AnyServer): boolean {
  if (!isMap(spec)) return false;
  return [spec.k8s, spec.tars, spec.normal, spec.release].every((part) => part === undefined || isMap(part));
}

/** Of two blocks the one goes that the sub-type does not name (D14). */
function dropOtherBlock({ spec }: AnyServer, { warn }: ServerFacts): void {
  if (spec.tars === undefined || spec.normal === undefined) return;
  const other = spec.subType === "normal" ? "tars" : "normal";
  delete spec[other];
  warn(`spec.${other}: removed, spec.subType is ${spec.subType}`);
}

/** An annotation that nobody can read carries nothing (CV-005). */
function dropBrokenCarry({ metadata }: AnyServer, { warn }: ServerFacts): void {
  if (!isCarryBroken(metadata.annotations)) return;
  const rest = withoutCarry(metadata.annotations);
  if (rest === undefined) delete metadata.annotations;
  else metadata.annotations = rest;
  warn(`metadata.annotations: ${CARRY_ANNOTATION} cannot be read and is removed`);
}

function setGates({ apiVersion, spec }: AnyServer): void {
  const k8s = spec.k8s!;
  const isTars = spec.tars !== undefined;
  if (apiVersion.endsWith("/v1beta2")) {
    if (isTars) k8s.readinessGate = ACTIVE_GATE;
    return;
  }
  const { readinessGates: given = [] } = k8s;
  if (!Array.isArray(given)) return;
  if (isTars) k8s.readinessGates = [...new Set([ACTIVE_GATE, ...given])];
  else if (given.length > 0) k8s.readinessGates = [...new Set(given)];
}

/** Servers of the cache application DCache are released by their kind, which is the end of their name. */
const DCACHE_KINDS = ["ProxyServer", "RouterServer", "MKVCacheServer", "TCacheServer", "DBAccessServer"];

/** Name by which the images of a server are found (M-013). */
export function imageServer(app: string, server: string): string {
  if (app !== "DCache") return server;
  return DCACHE_KINDS.find((kind) => server.endsWith(kind)) ?? server;
}

/** True when a server is to be released with its image's default version. */
export function isAutoReleased({ metadata, spec }: DeepReadonly<TServer>): boolean {
  const wanted = metadata.annotations?.[AUTO_RELEASE_ANNOTATION];
  return wanted !== undefined && wanted !== "false" && isMap(spec) && spec.release === undefined;
}

function autoRelease(object: AnyServer, { images }: ServerFacts): void {
  if (!isAutoReleased(object)) return;
  for (const image of images) {
    const release = image.releases?.find(({ id }) => id === image.default);
    if (release === undefined) continue;
    const { id, secret } = release;
    object.spec.release = { id, image: release.image, ...(secret && { secret }) };
    return;
  }
}

/** True for a release to which the framework's image of tarsnode will be added. */
export function lacksNodeImage({ spec }: DeepReadonly<TServer>): boolean {
  return isMap(spec) && spec.tars !== undefined && spec.release !== undefined && !spec.release?.nodeImage;
}

function completeRelease({ spec }: AnyServer, { nodeImage, now }: ServerFacts): string | undefined {
  const { release } = spec;
  if (release === undefined) return undefined;
  if (!release.time) release.time = now;
  if (spec.tars === undefined) {
    delete release.nodeImage;
    delete release.nodeSecret;
    return undefined;
  }
  if (release.nodeImage) return undefined;
  if (nodeImage === undefined) return invalid("tserver", "no default node image has been set");
  release.nodeImage = nodeImage.image;
  if (nodeImage.secret === "") delete release.nodeSecret;
  else release.nodeSecret = nodeImage.secret;
  return undefined;
}

function setReplicas({ metadata, spec: { k8s, release } }: AnyServer): string | undefined {
  const bounds = boundsOf(metadata.annotations);
  if (typeof bounds === "string") return invalid("tserver", bounds);
  if (k8s !== undefined) k8s.replicas = release === undefined ? 0 : clamp(k8s.replicas ?? 0, bounds);
  return undefined;
}

/** What `kubectl scale` may ask of a server (M-012). */
export function scaledReplicas(replicas: number, server: DeepReadonly<TServer>): number {
  if (server.spec.release === undefined) return 0;
  const bounds = boundsOf(server.metadata.annotations);
  return typeof bounds === "string" ? replicas : clamp(replicas, bounds);
}
