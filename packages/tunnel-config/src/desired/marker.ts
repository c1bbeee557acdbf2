/** Who manages a remote object, written into its comment (section 9.1). */
import { createHash } from "node:crypto";

export interface Owner {
  readonly kind: string;
  /** Empty for kinds without namespaces. */
  readonly namespace: string;
  /** Name, or `~` and a hash of namespace and name. */
  readonly name: string;
  /** Cluster of the object, where clusters that share an account are told apart. */
  readonly cluster?: string;
}

const PREFIX = "[managed-by:";
/** Both that this package writes and that of the peer (D1). */
const BEGIN = /\[managed(?:-by)?:/;
const HASH_DIGITS = 20;
const CLUSTER = /^[a-z0-9-]{1,20}$/;

/** Whether a text can tell a cluster from others. */
export function isClusterId(text: string): boolean {
  return CLUSTER.test(text);
}

/** An object of this cluster as an owner; `clusterId` is empty where clusters are not told apart. */
export function ownerIn(clusterId: string, kind: string, namespace: string, name: string): Owner {
  return { kind, namespace, name, ...(clusterId !== "" && { cluster: clusterId }) };
}

/** Text that names an owner in messages: `Kind/namespace/name`, and `@cluster` where it has one. */
export function ownerText({ kind, namespace, name, cluster }: Owner): string {
  const place = cluster === undefined ? "" : `@${cluster}`;
  return `${namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`}${place}`;
}

/** The comment of a remote object: its marker, then what fits of the user's own text (TUN-801, TUN-808). */
export function buildComment(owner: Owner, text: string, limit: number): string {
  const plain = `${PREFIX}${ownerText(owner)}]`;
  const marker =
    plain.length <= limit
      ? plain
      : `${PREFIX}${ownerText({ ...owner, namespace: "", name: hashedName(owner) })}]`;
  const own = text.trim();
  if (own === "") return marker;
  const room = limit - marker.length - 1;
  const characters = [...own];
  if (characters.length <= room) return `${marker} ${own}`;
  return room < 2 ? marker : `${marker} ${characters.slice(0, room - 1).join("")}…`;
}

/** The owner that a comment names, or nothing. */
export function markerOf(comment: string | null | undefined): Owner | undefined {
  const span = spanOf(comment ?? "");
  if (span === undefined) return undefined;
  const parts = span.inside.split("/");
  if (parts.length < 2 || parts.length > 3 || parts.some((part) => part === "")) return undefined;
  const [kind = "", second = "", third] = parts;
  const whole = third ?? second;
  // No name of an object has an "@".
  const at = whole.indexOf("@");
  const cluster = at < 0 ? "" : whole.slice(at + 1);
  if (at >= 0 && !isClusterId(cluster)) return ownerIn("", kind, third === undefined ? "" : second, whole);
  const name = at < 0 ? whole : whole.slice(0, at);
  return ownerIn(cluster, kind, third === undefined ? "" : second, name);
}

/** What a comment says beside its marker (TUN-804). */
export function textOf(comment: string | null | undefined): string {
  const whole = comment ?? "";
  const span = spanOf(whole);
  if (span === undefined || markerOf(whole) === undefined) return whole.trim();
  const rest = [whole.slice(0, span.begin).trim(), whole.slice(span.end).trim()];
  return rest.filter((part) => part !== "").join(" ");
}

/**
 * Whether both name the same object, be it by a hash (TUN-805).
 * @param held whether the remote object is known to be this object's from elsewhere: then a marker may be without a cluster
 */
export function isSameMarker(found: Owner, own: Owner, held = false): boolean {
  if (found.kind !== own.kind) return false;
  if (found.cluster !== own.cluster && !(held && found.cluster === undefined)) return false;
  if (found.namespace === own.namespace && found.name === own.name) return true;
  return found.namespace === "" && found.name === hashedName(own);
}

function hashedName({ namespace, name }: Owner): string {
  const whole = namespace === "" ? name : `${namespace}/${name}`;
  return `~${createHash("sha256").update(whole).digest("hex").slice(0, HASH_DIGITS)}`;
}

function spanOf(comment: string): { begin: number; end: number; inside: string } | undefined {
  const match = BEGIN.exec(comment);
  if (match === null) return undefined;
  const close = comment.indexOf("]", match.index);
  if (close < 0) return undefined;
  const inside = comment.slice(match.index + match[0].length, close);
  return { begin: match.index, end: close + 1, inside };
}
