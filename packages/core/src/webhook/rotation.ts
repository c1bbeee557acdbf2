/** What the webhook's certificate Secret should hold now; decided here, written by the certificate manager. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  BACKDATE_MS,
  createCa,
  inspectCertificate,
  issueServing,
  servingProblem,
  splitPem,
} from "./certificates.ts";

/** Content of the Secret, PEM texts. `ca.crt` begins with the CA of `ca.key`; a second one is on its way out. */
export interface CertificateSet {
  "ca.crt": string;
  "ca.key": string;
  "tls.crt": string;
  "tls.key": string;
}

export interface RotationOptions {
  /** Names that the API server calls the webhook by. */
  names: readonly string[];
  /** Milliseconds since the Unix epoch. */
  now: number;
  leafLifeMs: number;
  caLifeMs: number;
  /** True for the replica that renews what is due; any replica makes what is missing or cannot be used. */
  renews: boolean;
  /** What this process serves: callers trust it already, so it is kept beside a CA that they have yet to learn of. */
  served?: CertificateSet | undefined;
  /** True when the API server knows a CA (PEM) wherever it looks for one. */
  isTrusted: (ca: string) => boolean;
}

export interface Rotation {
  set: CertificateSet;
  /** Why the set differs from the one given; `undefined` when it is unchanged. */
  reason?: "created" | "unusable" | "leaf-renewed" | "ca-added" | "ca-took-over" | "old-ca-dropped";
  /** For people, with `unusable`. Holds no key material. */
  problem?: string;
  /** A new CA waits to be trusted before a leaf of it is made. */
  waits?: true;
}

/** A leaf is renewed when this part of its life is over (CORE-347). */
const LEAF_RENEW_AT = 2 / 3;
/** A CA is renewed when this part of its life is over. */
const CA_RENEW_AT = 0.8;
/** A leaf of the old CA that has come so far is replaced even if the new CA is not known everywhere. */
const LEAF_FORCED_AT = 0.95;
/** The old CA goes no sooner than this part of a leaf's life after the leaf of the new one: all replicas serve it then. */
const FOLLOW_PART = 0.1;

/** Renews what is due, and makes anew what is missing or cannot be used. */
export async function rotate(
  current: Partial<CertificateSet> | undefined,
  options: RotationOptions,
): Promise<Rotation> {
  if (current === undefined) return { set: await firstSet(options), reason: "created" };
  const problem = isComplete(current) ? caProblem(current, options.now) : "a field is missing";
  if (problem !== undefined) return { set: await firstSet(options), reason: "unusable", problem };
  const set = current as CertificateSet;
  const broken = leafProblem(set, options);
  if (broken !== undefined)
    return { set: await withUsableLeaf(set, options), reason: "unusable", problem: broken };
  return options.renews ? renewed(set, options) : { set };
}

async function renewed(set: CertificateSet, options: RotationOptions): Promise<Rotation> {
  const [newest, ...older] = splitPem(set["ca.crt"]);
  if (spentLife(newest!, options.now) >= CA_RENEW_AT) {
    return { set: await withNewCa(set, options), reason: "ca-added" };
  }
  const spent = spentLife(set["tls.crt"], options.now);
  if (!isSignedBy(set["tls.crt"], newest!)) {
    if (!options.isTrusted(newest!) && spent < LEAF_FORCED_AT) return { set, waits: true };
    return { set: await withNewLeaf(set, options), reason: "ca-took-over" };
  }
  if (spent >= LEAF_RENEW_AT) return { set: await withNewLeaf(set, options), reason: "leaf-renewed" };
  if (older.length === 0 || options.now < overlapEnd(set, newest!, options.leafLifeMs)) return { set };
  return { set: { ...set, "ca.crt": newest! }, reason: "old-ca-dropped" };
}

/** When nobody serves a leaf of the old CA any more. */
function overlapEnd(set: CertificateSet, newest: string, leafLifeMs: number): number {
  return Math.max(issuedAt(newest) + leafLifeMs, issuedAt(set["tls.crt"]) + FOLLOW_PART * leafLifeMs);
}

/** The first phase of a change of CA: the new one is told to all, and the leaf of the old one goes on. */
async function withNewCa(set: CertificateSet, options: RotationOptions): Promise<CertificateSet> {
  const signers = splitPem(set["ca.crt"]).filter((ca) => isSignedBy(set["tls.crt"], ca));
  const ca = await createCa(options.now, options.caLifeMs);
  return { ...set, "ca.crt": ca.cert + signers.join(""), "ca.key": ca.key };
}

/** A leaf of the newest CA. */
async function withNewLeaf(set: CertificateSet, options: RotationOptions): Promise<CertificateSet> {
  const [newest] = splitPem(set["ca.crt"]);
  const ca = { cert: newest!, key: set["ca.key"] };
  const leaf = await issueServing(ca, options.names, options.now, options.leafLifeMs);
  return { ...set, "tls.crt": leaf.cert, "tls.key": leaf.key };
}

/** The leaf that is served, where one of the set's CAs vouches for it; else a new one. */
function withUsableLeaf(
  set: CertificateSet,
  options: RotationOptions,
): Promise<CertificateSet> | CertificateSet {
  const { served } = options;
  const kept = served && { ...set, "tls.crt": served["tls.crt"], "tls.key": served["tls.key"] };
  return kept !== undefined && leafProblem(kept, options) === undefined ? kept : withNewLeaf(set, options);
}

/** A set for a Secret that holds none. */
async function firstSet(options: RotationOptions): Promise<CertificateSet> {
  const { served, names, now, caLifeMs, leafLifeMs } = options;
  if (served !== undefined && leafProblem(served, options) === undefined) return withNewCa(served, options);
  const ca = await createCa(now, caLifeMs);
  const leaf = await issueServing(ca, names, now, leafLifeMs);
  return { "ca.crt": ca.cert, "ca.key": ca.key, "tls.crt": leaf.cert, "tls.key": leaf.key };
}

function leafProblem(set: CertificateSet, { names, now }: RotationOptions): string | undefined {
  return servingProblem({ cert: set["tls.crt"], key: set["tls.key"] }, set["ca.crt"], names, now);
}

function caProblem(set: CertificateSet, now: number): string | undefined {
  try {
    const [newest = ""] = splitPem(set["ca.crt"]);
    const { isCa, notBefore, notAfter } = inspectCertificate(newest);
    if (!isCa) return "ca.crt is not the certificate of a CA";
    if (now < notBefore || now > notAfter) return "the CA is not valid now";
    const matches = new X509Certificate(newest).checkPrivateKey(createPrivateKey(set["ca.key"]));
    return matches ? undefined : "ca.key does not belong to the first certificate of ca.crt";
  } catch {
    return "the CA or its key cannot be read";
  }
}

/** True when the key of a CA has signed a certificate; both PEM. */
export function isSignedBy(certificate: string, ca: string): boolean {
  return new X509Certificate(certificate).verify(new X509Certificate(ca).publicKey);
}

function isComplete(set: Partial<CertificateSet>): set is CertificateSet {
  return ["ca.crt", "ca.key", "tls.crt", "tls.key"].every((name) => set[name as keyof CertificateSet]);
}

/** Part of a certificate's life that is over, 0 to 1. */
function spentLife(pem: string, now: number): number {
  const issued = issuedAt(pem);
  return (now - issued) / (inspectCertificate(pem).notAfter - issued);
}

function issuedAt(pem: string): number {
  return inspectCertificate(pem).notBefore + BACKDATE_MS;
}
