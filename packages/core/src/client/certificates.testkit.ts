/** Certificates for test servers and clients: one CA per test file, ECDSA on P-256. */
import { webcrypto } from "node:crypto";

/** Certificate and private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface Authority {
  ca: string;
  /** Serving certificate for 127.0.0.1, localhost and these names. */
  serving(names: string[]): Promise<KeyPair>;
  /** Client certificate with a CN. */
  client(user: string): Promise<KeyPair>;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 24 * 60 * 60 * 1000;

let made: Promise<Authority> | undefined;

/** The CA of this test file. */
export function authority(): Promise<Authority> {
  made ??= newAuthority();
  return made;
}

/** A new CA, for tests that change it. */
export async function newAuthority(): Promise<Authority> {
  provideReflectMetadata();
  const x509 = await import("@peculiar/x509");
  const provider: unknown = webcrypto;
  x509.cryptoProvider.set(provider as typeof globalThis.crypto);
  const dates = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
  const caKeys = await generate();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...dates,
    name: "CN=test-ca",
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const sign = async (user: string, usage: string, names: string[]): Promise<KeyPair> => {
    const keys = await generate();
    const alternative = names.map((value) => ({
      type: /^[\d.]+$/.test(value) ? ("ip" as const) : ("dns" as const),
      value,
    }));
    const cert = await x509.X509CertificateGenerator.create({
      ...dates,
      subject: [{ CN: [user] }],
      issuer: ca.subjectName,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.ExtendedKeyUsageExtension([usage]),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternative)] : []),
      ],
    });
    const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
    return { cert: cert.toString("pem"), key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY") };
  };
  return {
    ca: ca.toString("pem"),
    serving: (names) =>
      sign("server", x509.ExtendedKeyUsage.serverAuth, ["127.0.0.1", "localhost", ...names]),
    client: (user) => sign(user, x509.ExtendedKeyUsage.clientAuth, []),
  };
}

function generate(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, [
    "sign",
    "verify",
  ]) as Promise<webcrypto.CryptoKeyPair>;
}

/** `tsyringe`, below `@peculiar/x509`, asks for this proposal's functions when it is loaded. */
function provideReflectMetadata(): void {
  const reflect = Reflect as { getMetadata?: unknown; getOwnMetadata?: unknown; defineMetadata?: unknown };
  if (reflect.getMetadata !== undefined) return;
  const store = new WeakMap<object, Map<unknown, unknown>>();
  reflect.getMetadata = (key: unknown, target: object) => store.get(target)?.get(key);
  reflect.getOwnMetadata = reflect.getMetadata;
  reflect.defineMetadata = (key: unknown, value: unknown, target: object) => {
    store.set(target, (store.get(target) ?? new Map()).set(key, value));
  };
}
