/** What the webhook's certificate Secret should hold now; decided here, written by the certificate manager. */
import {
  BACKDATE_MS,
  createCa,
  inspectCertificate,
  issueServing,
  servingProblem,
  splitPem,
} from "./certificates.ts";

/** Content of the Secret, PEM texts. `ca.crt` may hold two CAs while one takes over from the other. */
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
}

export interface Rotation {
  set: CertificateSet;
  /** Why the set differs from the one given; `undefined` when it is unchanged. */
  reason?: "created" | "unusable" | "leaf-renewed" | "ca-renewed" | "old-ca-dropped";
  /** For people, with `unusable`. Holds no key material. */
  problem?: string;
}

/** A leaf is renewed when this part of its life is over (CORE-347). */
const LEAF_RENEW_AT = 2 / 3;
/** A CA is renewed when this part of its life is over. */
const CA_RENEW_AT = 0.8;

/** Renews what is due, and makes anew what is missing or cannot be used. */
export async function rotate(
  current: Partial<CertificateSet> | undefined,
  options: RotationOptions,
): Promise<Rotation> {
  if (current === undefined || !isComplete(current)) {
    const reason = current === undefined ? "created" : "unusable";
    return {
      set: await freshSet(options),
      reason,
      ...(reason === "unusable" ? { problem: "a field is missing" } : {}),
    };
  }
  const problem = setProblem(current, options);
  if (problem !== undefined) return { set: await freshSet(options), reason: "unusable", problem };

  const [newestCa] = splitPem(current["ca.crt"]);
  if (spentLife(newestCa!, options.now) >= CA_RENEW_AT) {
    const ca = await createCa(options.now, options.caLifeMs);
    const leaf = await issueServing(ca, options.names, options.now, options.leafLifeMs);
    return { set: setOf(ca.cert + newestCa, ca.key, leaf), reason: "ca-renewed" };
  }
  if (spentLife(current["tls.crt"], options.now) >= LEAF_RENEW_AT) {
    const ca = { cert: newestCa!, key: current["ca.key"] };
    const leaf = await issueServing(ca, options.names, options.now, options.leafLifeMs);
    return { set: setOf(current["ca.crt"], ca.key, leaf), reason: "leaf-renewed" };
  }
  return dropOldCa(current, options);
}

/** After one leaf lifetime nobody serves a leaf of the old CA any more. */
function dropOldCa(current: CertificateSet, options: RotationOptions): Rotation {
  const [newestCa, ...older] = splitPem(current["ca.crt"]);
  const overlapEnd = inspectCertificate(newestCa!).notBefore + BACKDATE_MS + options.leafLifeMs;
  if (older.length === 0 || options.now < overlapEnd) return { set: current };
  return { set: { ...current, "ca.crt": newestCa! }, reason: "old-ca-dropped" };
}

function setProblem(set: CertificateSet, options: RotationOptions): string | undefined {
  const pair = { cert: set["tls.crt"], key: set["tls.key"] };
  const problem = servingProblem(pair, set["ca.crt"], options.names, options.now);
  if (problem !== undefined) return problem;
  const [newestCa] = splitPem(set["ca.crt"]);
  const ca = inspectCertificate(newestCa!);
  if (!ca.isCa) return "ca.crt is not the certificate of a CA";
  return options.now > ca.notAfter ? "the CA has expired" : undefined;
}

async function freshSet(options: RotationOptions): Promise<CertificateSet> {
  const ca = await createCa(options.now, options.caLifeMs);
  return setOf(ca.cert, ca.key, await issueServing(ca, options.names, options.now, options.leafLifeMs));
}

function setOf(bundle: string, caKey: string, leaf: { cert: string; key: string }): CertificateSet {
  return { "ca.crt": bundle, "ca.key": caKey, "tls.crt": leaf.cert, "tls.key": leaf.key };
}

function isComplete(set: Partial<CertificateSet>): set is CertificateSet {
  return ["ca.crt", "ca.key", "tls.crt", "tls.key"].every((name) => set[name as keyof CertificateSet]);
}

/** Part of a certificate's life that is over, 0 to 1. */
function spentLife(pem: string, now: number): number {
  const { notBefore, notAfter } = inspectCertificate(pem);
  const issued = notBefore + BACKDATE_MS;
  return (now - issued) / (notAfter - issued);
}
