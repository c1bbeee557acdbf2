import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { inspectCertificate, issueServing, splitPem } from "./certificates.ts";
import { type CertificateSet, type RotationOptions, rotate } from "./rotation.ts";

const DAY = 24 * 60 * 60 * 1000;
const T0 = Date.UTC(2026, 0, 1);
const names = ["hooks", "hooks.ops", "hooks.ops.svc", "hooks.ops.svc.cluster.local"];
const options = (now: number): RotationOptions => ({
  names,
  now,
  leafLifeMs: 90 * DAY,
  caLifeMs: 1825 * DAY,
  renews: true,
  isTrusted: () => true,
});
const distrusting = (now: number): RotationOptions => ({ ...options(now), isTrusted: () => false });
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

  it("CORE-347 a CA of 80 % of its life gets a successor, whose leaf is made once the successor is trusted", async () => {
    const now = T0 + 1470 * DAY;
    const set = await make();
    const late = { ...set, ...(await renewedLeaf(set, T0 + 1450 * DAY)) };
    const first = await rotate(late, distrusting(now));
    expect(first.reason).toBe("ca-added");
    const [fresh, old] = splitPem(first.set["ca.crt"]);
    expect(old).toBe(splitPem(late["ca.crt"])[0]);
    expect(first.set["tls.crt"]).toBe(late["tls.crt"]);
    expect(signedBy(first.set, old!)).toBe(true);
    expect(await rotate(first.set, distrusting(now + 10 * DAY))).toEqual({ set: first.set, waits: true });
    const second = await rotate(first.set, options(now + 10 * DAY));
    expect(second.reason).toBe("ca-took-over");
    expect(second.set["ca.crt"]).toBe(first.set["ca.crt"]);
    expect(signedBy(second.set, fresh!)).toBe(true);
    const issued = options(now + 70 * DAY);
    const leaf = (await rotate(second.set, issued)).set;
    expect(splitPem(leaf["ca.crt"])).toEqual([fresh, old]);
    const dropped = await rotate(leaf, options(now + 91 * DAY));
    expect(dropped.reason).toBe("old-ca-dropped");
    expect(splitPem(dropped.set["ca.crt"])).toEqual([fresh]);
  });

  it("CORE-347 a leaf of the old CA is not left to expire, although its successor is nowhere trusted", async () => {
    const set = await make();
    const late = { ...set, ...(await renewedLeaf(set, T0 + 1450 * DAY)) };
    const { set: added } = await rotate(late, distrusting(T0 + 1470 * DAY));
    expect((await rotate(added, distrusting(T0 + 1535 * DAY))).waits).toBe(true);
    expect((await rotate(added, distrusting(T0 + 1536 * DAY))).reason).toBe("ca-took-over");
  });

  it("CORE-347 a replica that does not lead renews nothing, and makes what is missing", async () => {
    const set = await make();
    const follower = (now: number): RotationOptions => ({ ...options(now), renews: false });
    expect(await rotate(set, follower(T0 + 80 * DAY))).toEqual({ set });
    expect((await rotate(undefined, follower(T0))).reason).toBe("created");
    expect((await rotate(set, follower(T0 + 91 * DAY))).reason).toBe("unusable");
  });

  it("CORE-347 CORE-350 a Secret that is gone gets a new CA beside the served one, and the served leaf goes on", async () => {
    const served = await make();
    const serving = (now: number): RotationOptions => ({ ...distrusting(now), served });
    for (const lost of [undefined, {}, { ...served, "ca.key": "broken" }]) {
      const { set } = await rotate(lost, serving(T0 + DAY));
      expect(set["tls.crt"]).toBe(served["tls.crt"]);
      expect(splitPem(set["ca.crt"])).toHaveLength(2);
      expect(signedBy(set, served["ca.crt"])).toBe(true);
      expect((await rotate(set, serving(T0 + 2 * DAY))).waits).toBe(true);
      expect((await rotate(set, options(T0 + 2 * DAY))).reason).toBe("ca-took-over");
    }
    const expired = await rotate(undefined, serving(T0 + 91 * DAY));
    expect(splitPem(expired.set["ca.crt"])).toHaveLength(1);
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

  it("CORE-350 keeps a CA that can be used: what trusts it goes on", async () => {
    const set = await make();
    const broken = { ...set, "tls.key": (await make())["tls.key"] };
    expect((await rotate(broken, options(T0 + DAY))).set["ca.crt"]).toBe(set["ca.crt"]);
    const foreign = { ...set, "ca.key": (await make())["ca.key"] };
    expect((await rotate(foreign, options(T0 + DAY))).set["ca.crt"]).not.toContain(set["ca.crt"]);
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
