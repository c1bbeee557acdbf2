import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { inspectCertificate, issueServing, splitPem } from "./certificates.ts";
import { type CertificateSet, rotate } from "./rotation.ts";

const DAY = 24 * 60 * 60 * 1000;
const T0 = Date.UTC(2026, 0, 1);
const names = ["hooks", "hooks.ops", "hooks.ops.svc", "hooks.ops.svc.cluster.local"];
const options = (now: number) => ({ names, now, leafLifeMs: 90 * DAY, caLifeMs: 1825 * DAY });
const make = async (): Promise<CertificateSet> => (await rotate(undefined, options(T0))).set;
const signedBy = (set: CertificateSet, ca: string): boolean =>
  new X509Certificate(set["tls.crt"]).verify(new X509Certificate(ca).publicKey);

describe("webhook certificates", () => {
  it("CORE-346 makes a CA and a leaf with the service's names, P-256, backdated by an hour", async () => {
    const set = await make();
    const leaf = new X509Certificate(set["tls.crt"]);
    expect(leaf.checkIssued(new X509Certificate(set["ca.crt"]))).toBe(true);
    expect(signedBy(set, set["ca.crt"])).toBe(true);
    expect(inspectCertificate(set["tls.crt"])).toEqual({
      notBefore: T0 - 60 * 60 * 1000,
      notAfter: T0 + 90 * DAY,
      dnsNames: names,
      isCa: false,
    });
    expect(inspectCertificate(set["ca.crt"])).toMatchObject({ notAfter: T0 + 1825 * DAY, isCa: true });
    expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    expect(leaf.serialNumber.length * 4).toBeGreaterThanOrEqual(64);
    expect((await make())["tls.crt"]).not.toBe(set["tls.crt"]);
  });

  it("CORE-347 leaves a fresh set alone and renews the leaf at two thirds of its life, under the same CA", async () => {
    const set = await make();
    expect(await rotate(set, options(T0 + 59 * DAY))).toEqual({ set });
    const renewed = await rotate(set, options(T0 + 61 * DAY));
    expect(renewed.reason).toBe("leaf-renewed");
    expect(renewed.set["ca.crt"]).toBe(set["ca.crt"]);
    expect(signedBy(renewed.set, set["ca.crt"])).toBe(true);
    expect(inspectCertificate(renewed.set["tls.crt"]).notAfter).toBe(T0 + 151 * DAY);
  });

  it("CORE-347 counts a life from the issue, not from the backdating: a leaf of 15 s lives for 10 s", async () => {
    const short = (now: number) => ({ ...options(now), leafLifeMs: 15_000 });
    const { set } = await rotate(undefined, short(T0));
    expect(await rotate(set, short(T0 + 9_000))).toEqual({ set });
    expect((await rotate(set, short(T0 + 10_000))).reason).toBe("leaf-renewed");
  });

  it("CORE-347 renews the CA at 80 % of its life and keeps the old one for a leaf's lifetime", async () => {
    const now = T0 + 1470 * DAY;
    const set = await make();
    const late = { ...set, ...(await renewedLeaf(set, T0 + 1450 * DAY)) };
    const first = await rotate(late, options(now));
    expect(first.reason).toBe("ca-renewed");
    const [fresh, old] = splitPem(first.set["ca.crt"]);
    expect(old).toBe(splitPem(late["ca.crt"])[0]);
    expect(signedBy(first.set, fresh!)).toBe(true);
    expect(await rotate(first.set, options(now + 59 * DAY))).toEqual({ set: first.set });
    const leaf = (await rotate(first.set, options(now + 80 * DAY))).set;
    const dropped = await rotate(leaf, options(now + 91 * DAY));
    expect(dropped.reason).toBe("old-ca-dropped");
    expect(splitPem(dropped.set["ca.crt"])).toEqual([fresh]);
  });

  it.each<[string, (set: CertificateSet, other: CertificateSet) => Partial<CertificateSet>]>([
    ["bad PEM", (set) => ({ ...set, "tls.crt": "not a certificate" })],
    ["a key of another pair", (set, other) => ({ ...set, "tls.key": other["tls.key"] })],
    ["a leaf of another CA", (set, other) => ({ ...set, "ca.crt": other["ca.crt"] })],
    ["a missing field", ({ "tls.key": _key, ...rest }) => rest],
  ])("CORE-350 makes a new set for %s", async (_what, spoil) => {
    const set = await make();
    const result = await rotate(spoil(set, await make()), options(T0 + DAY));
    expect(result).toMatchObject({ reason: "unusable", problem: expect.any(String) });
    expect(signedBy(result.set, result.set["ca.crt"])).toBe(true);
  });

  it("CORE-350 makes a new set for a missing name and for an expired leaf", async () => {
    const set = await make();
    const renamed = await rotate(set, { ...options(T0 + DAY), names: [...names, "other.svc"] });
    expect(renamed).toMatchObject({
      reason: "unusable",
      problem: "the serving certificate lacks the name other.svc",
    });
    expect((await rotate(set, options(T0 + 91 * DAY))).reason).toBe("unusable");
  });
});

/** A leaf of the set's CA as it would stand after its last renewal at `now`. */
async function renewedLeaf(
  set: CertificateSet,
  now: number,
): Promise<Pick<CertificateSet, "tls.crt" | "tls.key">> {
  const leaf = await issueServing(
    { cert: splitPem(set["ca.crt"])[0]!, key: set["ca.key"] },
    names,
    now,
    90 * DAY,
  );
  return { "tls.crt": leaf.cert, "tls.key": leaf.key };
}
