/** Certificates of a test cluster: one CA, a serving certificate, client certificates, service-account keys. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";

/** ECDSA on P-256: quick to make, accepted by every component. */
const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** Test certificates live one day. */
const VALIDITY_MS = 24 * 60 * 60 * 1000;
/** Certificates are valid from a little before now, so that a clock that runs behind accepts them. */
const BACKDATE_MS = 5 * 60 * 1000;
const SERIAL_BYTES = 16;

/** Names of the API server's serving certificate. */
export const SERVING_NAMES: readonly string[] = [
  "localhost",
  "127.0.0.1",
  "::1",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  "10.0.0.1",
];

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Signs certificates. `key` never leaves the test machine's work folder. */
export interface CertificateAuthority extends KeyPair {
  /** Serving certificate for DNS names and IP addresses. */
  serving(commonName: string, names: readonly string[]): Promise<KeyPair>;
  /** Client certificate: the user is its CN, the groups are its O. */
  client(user: string, groups: readonly string[]): Promise<KeyPair>;
}

/** Makes a new CA. */
export async function createAuthority(commonName = "quartet-test-ca"): Promise<CertificateAuthority> {
  const keys = await generateKeys();
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return openAuthority({ cert: pem(cert.toString("pem")), key: await privateKeyPem(keys.privateKey) });
}

/** Opens a CA that {@link createAuthority} made. */
export function openAuthority(pair: KeyPair): CertificateAuthority {
  const caCert = new x509.X509Certificate(pair.cert);
  const signingKey = importPrivateKey(pair.key);
  // A failed import is reported by the first signature, not as an unhandled rejection.
  signingKey.catch(() => {});
  const sign = async (
    name: x509.JsonName,
    usage: x509.ExtendedKeyUsage,
    extensions: x509.Extension[],
  ): Promise<KeyPair> => {
    const keys = await generateKeys();
    const cert = await x509.X509CertificateGenerator.create({
      ...validity(),
      serialNumber: serialNumber(),
      subject: name,
      issuer: caCert.subjectName,
      publicKey: keys.publicKey,
      signingKey: await signingKey,
      signingAlgorithm: KEY_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        await x509.AuthorityKeyIdentifierExtension.create(caCert),
        ...extensions,
      ],
    });
    return { cert: pem(cert.toString("pem")), key: await privateKeyPem(keys.privateKey) };
  };
  return {
    ...pair,
    serving: (commonName, names) =>
      sign([{ CN: [commonName] }], x509.ExtendedKeyUsage.serverAuth, [
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? "ip" : "dns", value })),
        ),
      ]),
    client: (user, groups) =>
      sign(
        [...groups.map((group) => ({ O: [group] })), { CN: [user] }],
        x509.ExtendedKeyUsage.clientAuth,
        [],
      ),
  };
}

/** A key pair for service-account tokens: SPKI public key and PKCS 8 private key, PEM. */
export async function createServiceAccountKeys(): Promise<{ publicKey: string; privateKey: string }> {
  const keys = await generateKeys();
  const spki = await webcrypto.subtle.exportKey("spki", keys.publicKey);
  return {
    publicKey: pem(x509.PemConverter.encode(spki, "PUBLIC KEY")),
    privateKey: await privateKeyPem(keys.privateKey),
  };
}

/** Files of a control plane's PKI. */
export interface PkiFiles {
  caCert: string;
  caKey: string;
  servingCert: string;
  servingKey: string;
  serviceAccountPublicKey: string;
  serviceAccountPrivateKey: string;
}

/** Paths of the PKI's files below a folder. */
export function pkiFiles(folder: string): PkiFiles {
  return {
    caCert: join(folder, "ca.crt"),
    caKey: join(folder, "ca.key"),
    servingCert: join(folder, "apiserver.crt"),
    servingKey: join(folder, "apiserver.key"),
    serviceAccountPublicKey: join(folder, "sa.pub"),
    serviceAccountPrivateKey: join(folder, "sa.key"),
  };
}

/** Makes a control plane's PKI and writes it to `folder`, readable by the owner only. */
export async function writePki(folder: string): Promise<CertificateAuthority> {
  const authority = await createAuthority();
  const [serving, accounts] = await Promise.all([
    authority.serving("kube-apiserver", SERVING_NAMES),
    createServiceAccountKeys(),
  ]);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = pkiFiles(folder);
  const write = (file: string, text: string): void => writeFileSync(file, text, { mode: 0o600 });
  write(files.caCert, authority.cert);
  write(files.caKey, authority.key);
  write(files.servingCert, serving.cert);
  write(files.servingKey, serving.key);
  write(files.serviceAccountPublicKey, accounts.publicKey);
  write(files.serviceAccountPrivateKey, accounts.privateKey);
  return authority;
}

/** Opens the CA of a folder that {@link writePki} filled. */
export function readAuthority(folder: string): CertificateAuthority {
  const files = pkiFiles(folder);
  return openAuthority({ cert: readFileSync(files.caCert, "utf8"), key: readFileSync(files.caKey, "utf8") });
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, [
    "sign",
    "verify",
  ]) as Promise<webcrypto.CryptoKeyPair>;
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return pem(x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY"));
}

function importPrivateKey(text: string): Promise<webcrypto.CryptoKey> {
  const [der] = x509.PemConverter.decode(text);
  return webcrypto.subtle.importKey("pkcs8", der!, KEY_ALGORITHM, false, [
    "sign",
  ]) as Promise<webcrypto.CryptoKey>;
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + VALIDITY_MS) };
}

/** A positive random number; the first byte is kept below 0x80 and above 0. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(SERIAL_BYTES));
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

/** PEM text with the final newline that some readers ask for. */
function pem(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
