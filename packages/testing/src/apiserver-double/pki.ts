/** Certificates of a double: a CA, which also signs client certificates on demand, and a serving certificate. */
import {
  type CertificateAuthority,
  createAuthority,
  type KeyPair,
  SERVING_NAMES,
} from "../control-plane/pki.ts";

export interface Pki {
  readonly authority: CertificateAuthority;
  readonly serving: KeyPair;
}

/** Makes the certificates of one double, or of several that share them. */
export async function createPki(): Promise<Pki> {
  const authority = await createAuthority();
  return { authority, serving: await authority.serving("kube-apiserver", SERVING_NAMES) };
}
