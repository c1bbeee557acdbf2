import { createPrivateKey, createPublicKey, sign, verify, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAuthority, pkiFiles, readAuthority, SERVING_NAMES, writePki } from "./pki.ts";

const HOUR = 3_600_000;

describe("certificates", () => {
  it("signs serving certificates for names and addresses, valid for a day", async () => {
    const authority = await createAuthority();
    const ca = new X509Certificate(authority.cert);
    const cert = new X509Certificate((await authority.serving("kube-apiserver", SERVING_NAMES)).cert);
    expect(ca.ca).toBe(true);
    expect(cert.checkIssued(ca)).toBe(true);
    expect(cert.verify(ca.publicKey)).toBe(true);
    for (const host of ["localhost", "kubernetes.default.svc.cluster.local"]) {
      expect(cert.checkHost(host)).toBe(host);
    }
    for (const ip of ["127.0.0.1", "::1", "10.0.0.1"]) expect(cert.checkIP(ip)).toBe(ip);
    expect(cert.checkHost("example.com")).toBeUndefined();
    const left = Date.parse(cert.validTo) - Date.now();
    expect(left).toBeGreaterThan(23 * HOUR);
    expect(left).toBeLessThanOrEqual(24 * HOUR);
    expect(cert.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
  });

  it("signs client certificates that carry user and groups, and the key belongs to the certificate", async () => {
    const authority = await createAuthority();
    const { cert, key } = await authority.client("jane", ["devs", "system:masters"]);
    const parsed = new X509Certificate(cert);
    expect(parsed.subject.split("\n")).toEqual(["O=devs", "O=system:masters", "CN=jane"]);
    expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
    // 1.3.6.1.5.5.7.3.2 is clientAuth.
    expect(parsed.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  });
});

describe("folder of a control plane", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "quartet-pki-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("can be opened by another process to sign more certificates", async () => {
    await writePki(folder);
    const { cert } = await readAuthority(folder).client("late", []);
    const ca = new X509Certificate(readFileSync(pkiFiles(folder).caCert));
    expect(new X509Certificate(cert).verify(ca.publicKey)).toBe(true);
  });

  it("holds a service-account key pair of its own, and keys that only the owner reads", async () => {
    await writePki(folder);
    const files = pkiFiles(folder);
    const data = Buffer.from("token");
    const signature = sign("sha256", data, createPrivateKey(readFileSync(files.serviceAccountPrivateKey)));
    const publicKey = createPublicKey(readFileSync(files.serviceAccountPublicKey));
    expect(verify("sha256", data, publicKey, signature)).toBe(true);
    const serving = new X509Certificate(readFileSync(files.servingCert));
    expect(serving.publicKey.equals(publicKey)).toBe(false);
    for (const file of [files.caKey, files.servingKey, files.serviceAccountPrivateKey]) {
      expect(statSync(file).mode & 0o077).toBe(0);
    }
  });
});
