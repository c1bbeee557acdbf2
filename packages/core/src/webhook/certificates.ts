/** Certificates of the webhook server: a CA of our own and the serving certificates that it signs. */
import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import type { ServingPair } from "./server.ts";
import { x509 } from "./x509.ts";

/** ECDSA on P-256 (CORE-346): small, fast to make, accepted by every API server. */
const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** 16 random bytes: more than the 64 bits that the CA/Browser Forum asks for. */
const SERIAL_BYTES = 16;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates start an hour early, for API servers whose clock runs behind. */
export const BACKDATE_MS: number = 60 * 60 * 1000;
/** Life of a serving certificate. */
export const LEAF_LIFE_MS: number = 90 * DAY_MS;
/** Life of the CA. */
export const CA_LIFE_MS: number = 5 * 365 * DAY_MS;

/** A certificate and the time it covers, milliseconds since the Unix epoch. */
export interface CertificateInfo {
  notBefore: number;
  notAfter: number;
  dnsNames: readonly string[];
  isCa: boolean;
}

/** Makes a self-signed CA that is valid from an hour before `now` for `lifeMs`. */
export async function createCa(now: number, lifeMs: number = CA_LIFE_MS): Promise<ServingPair> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(now, lifeMs),
    serialNumber: serialNumber(),
    name: "CN=quartet-webhook-ca",
    keys,
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pairOf(certificate, keys.privateKey);
}

/** Makes a serving certificate for the DNS names and loopback addresses given, signed by the CA. */
export async function issueServing(
  ca: ServingPair,
  names: readonly string[],
  now: number,
  lifeMs: number = LEAF_LIFE_MS,
): Promise<ServingPair> {
  const issuer = new x509.X509Certificate(ca.cert);
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(now, lifeMs),
    serialNumber: serialNumber(),
    subject: `CN=${names[0]}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await importKey(ca.key),
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isAddress(value) ? "ip" : "dns", value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pairOf(certificate, keys.privateKey);
}

/** Reads the first certificate of a PEM text; throws when there is none. */
export function inspectCertificate(pem: string): CertificateInfo {
  const certificate = new x509.X509Certificate(pem);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [];
  return {
    notBefore: certificate.notBefore.getTime(),
    notAfter: certificate.notAfter.getTime(),
    dnsNames: names.map((name) => String(name.value)),
    isCa: certificate.getExtension(x509.BasicConstraintsExtension)?.ca === true,
  };
}

/**
 * Why a pair cannot serve the names now, or `undefined` when it can (CORE-350). Nothing of the key is told.
 * @param caBundle PEM; the leaf must be signed by one of its CAs. Left out, the signature is not checked
 */
export function servingProblem(
  pair: ServingPair,
  caBundle: string | undefined,
  names: readonly string[],
  now: number,
): string | undefined {
  try {
    const leaf = new X509Certificate(pair.cert);
    const info = inspectCertificate(pair.cert);
    if (now < info.notBefore || now > info.notAfter) return "the serving certificate is not valid now";
    const missing = names.find((name) => !info.dnsNames.includes(name));
    if (missing !== undefined) return `the serving certificate lacks the name ${missing}`;
    if (!leaf.checkPrivateKey(createPrivateKey(pair.key))) {
      return "the key does not belong to the serving certificate";
    }
    const signed = (ca: string): boolean => leaf.verify(new X509Certificate(ca).publicKey);
    if (caBundle !== undefined && !splitPem(caBundle).some(signed)) {
      return "the serving certificate is not signed by the CA";
    }
    return undefined;
  } catch {
    return "the certificate or its key cannot be read";
  }
}

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";

/** The certificates of a PEM bundle, in its order. */
export function splitPem(bundle: string): string[] {
  const found: string[] = [];
  let from = bundle.indexOf(BEGIN);
  while (from >= 0) {
    const end = bundle.indexOf(END, from);
    if (end < 0) break;
    found.push(`${bundle.slice(from, end + END.length)}\n`);
    from = bundle.indexOf(BEGIN, end);
  }
  return found;
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, [
    "sign",
    "verify",
  ]) as Promise<webcrypto.CryptoKeyPair>;
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const [der] = x509.PemConverter.decode(pem);
  if (der === undefined) throw new Error("no private key in PEM text");
  return webcrypto.subtle.importKey("pkcs8", der, KEY_ALGORITHM, false, ["sign"]);
}

async function pairOf(
  certificate: InstanceType<typeof x509.X509Certificate>,
  privateKey: webcrypto.CryptoKey,
): Promise<ServingPair> {
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", privateKey);
  return {
    cert: `${certificate.toString("pem")}\n`,
    key: `${x509.PemConverter.encode(pkcs8, "PRIVATE KEY")}\n`,
  };
}

function validity(now: number, lifeMs: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + lifeMs) };
}

/** A positive random number: the first byte is kept between 0x40 and 0x7f. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(SERIAL_BYTES));
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

function isAddress(name: string): boolean {
  return /^[\d.]+$/.test(name) || name.includes(":");
}
