import type { SourceReader } from "@quartet/core";
import { describe, expect, it } from "vitest";
import type { CloudflareApi } from "../cloudflare/api.ts";
import type { ApiCredentials } from "../cloudflare/credentials.ts";
import { type AccessOptions, type CloudflareSpec, defaultCredentials, resolveAccess } from "./access.ts";
import { accountOf } from "./account.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Loose = any;

/** A cluster with these Secrets, by `namespace/name`, and these credentials. */
function cluster(secrets: Record<string, Record<string, string>>, credentials: Loose[] = []) {
  const signed: ApiCredentials[] = [];
  const cache = {
    get: async (_: unknown, { name }: { name: string }) =>
      credentials.find(({ metadata }) => metadata.name === name),
    list: async () => credentials,
  } as unknown as SourceReader;
  const options = {
    operatorNamespace: "ops",
    apiFor: (given: ApiCredentials) => {
      signed.push(given);
      return {} as CloudflareApi;
    },
    secrets: {
      read: async ({ namespace, name }: { namespace: string; name: string }) => {
        const data = secrets[`${namespace}/${name}`];
        return (
          data && { data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)])) }
        );
      },
    },
    assertAlone: async () => {},
  } as unknown as AccessOptions;
  const resolve = async (spec: CloudflareSpec | undefined, namespace = "shop") => {
    const access = await resolveAccess(spec, namespace, cache, options);
    return { ...access, signed: signed.at(-1) };
  };
  return { resolve, cache };
}

const named = (name: string, spec: object = {}, created = "2026-01-01T00:00:00Z"): Loose => ({
  metadata: { name, creationTimestamp: created },
  spec: { accountId: `account-${name}`, authType: "apiToken", secretRef: { name }, ...spec },
});
const token = (text: string) => ({ CLOUDFLARE_API_TOKEN: text });

describe("credentials of an object", () => {
  it("TUN-101 TUN-102 are those that it names, else those of its Secret, else the default ones", async () => {
    const { resolve } = cluster(
      {
        "ops/one": token("one"),
        "ops/main": token("main"),
        "shop/own": token("own"),
        "ops/own": token("operator's"),
      },
      [named("main", { isDefault: true }), named("one")],
    );
    const used = async (...of: Parameters<typeof resolve>) => {
      const { signed, accountId } = await resolve(...of);
      return [(signed as Loose).token, accountId];
    };
    expect(await used({ credentialsRef: { name: "one" }, secret: "own" })).toEqual(["one", "account-one"]);
    expect(await used({ secret: "own" })).toEqual(["own", undefined]);
    expect(await used({ secret: "own" }, "")).toEqual(["operator's", undefined]);
    expect(await used(undefined)).toEqual(["main", "account-main"]);
    expect(await used({ accountId: "other" })).toEqual(["main", "other"]);
  });

  it("TUN-103 of a Secret are the token first, else the key with an address from wherever there is one", async () => {
    const key = { CLOUDFLARE_API_KEY: "key" };
    const { resolve } = cluster({
      "shop/both": { ...token("t\n"), ...key },
      "shop/mail": { ...key, CLOUDFLARE_API_EMAIL: "old@b", CLOUDFLARE_EMAIL: "new@b" },
      "shop/old": { ...key, CLOUDFLARE_API_EMAIL: "old@b" },
      "shop/bare": key,
      "shop/renamed": { T: "renamed" },
    });
    const signed = async (spec: CloudflareSpec) => (await resolve(spec)).signed;
    expect(await signed({ secret: "both" })).toEqual({ type: "token", token: "t" });
    expect(await signed({ secret: "mail" })).toEqual({ type: "key", key: "key", email: "new@b" });
    expect(await signed({ secret: "mail", email: "spec@b" })).toMatchObject({ email: "spec@b" });
    expect(await signed({ secret: "old" })).toMatchObject({ email: "old@b" });
    expect(await signed({ secret: "renamed", CLOUDFLARE_API_TOKEN: "T" })).toMatchObject({
      token: "renamed",
    });
    await expect(resolve({ secret: "bare" })).rejects.toThrow("no valid credentials found in secret");
  });

  it("TUN-104 TUN-106 that are missing are named, with the key that a Secret lacks", async () => {
    const { resolve } = cluster({ "ops/key": { CLOUDFLARE_API_KEY: "k" }, "ops/empty": token("") }, [
      named("key", { authType: "globalAPIKey" }),
      named("empty"),
    ]);
    const missing = { reason: "CredentialsNotFound" };
    await expect(resolve(undefined)).rejects.toMatchObject({
      ...missing,
      message: "no default CloudflareCredentials found",
    });
    await expect(resolve({ credentialsRef: { name: "x" } })).rejects.toMatchObject(missing);
    await expect(resolve({ secret: "x" })).rejects.toMatchObject(missing);
    const lacks = (name: string, text: string) =>
      expect(resolve({ credentialsRef: { name } })).rejects.toThrow(text);
    await lacks("key", "e-mail not found in secret (key: CLOUDFLARE_EMAIL)");
    await lacks("empty", "API token not found in secret (key: CLOUDFLARE_API_TOKEN)");
  });

  it("TUN-107 of several defaults are the oldest, by name where they are of one age", async () => {
    const isDefault = true;
    const young = named("a", { isDefault }, "2026-03-01T00:00:00Z");
    const old = named("c", { isDefault }, "2026-02-01T00:00:00Z");
    const same = named("b", { isDefault }, "2026-02-01T00:00:00Z");
    const first = async (...all: Loose[]) =>
      (await defaultCredentials(cluster({}, all).cache))?.metadata.name;
    expect(await first(young, old)).toBe("c");
    expect(await first(young, old, same)).toBe("b");
    expect(await first(named("d"))).toBeUndefined();
  });
});

it("TUN-110 an account is that of the spec, else that of the credentials, else the only one of the name", async () => {
  const { resolve } = cluster({ "ops/main": token("t"), "shop/own": token("own") }, [
    named("main", { isDefault: true }),
  ]);
  const accountsNamed = async (name: string) =>
    ({
      one: [{ id: "1", name }],
      two: [
        { id: "1", name },
        { id: "2", name },
      ],
    })[name] ?? [];
  const of = async (spec: CloudflareSpec | undefined) =>
    accountOf({ ...(await resolve(spec)), api: { accountsNamed } as unknown as CloudflareApi });
  expect(await of({ accountId: "x", accountName: "one" })).toBe("x");
  expect(await of(undefined)).toBe("account-main");
  expect(await of({ secret: "own", accountName: "one" })).toBe("1");
  await expect(of({ secret: "own", accountName: "two" })).rejects.toThrow("more than one account");
  await expect(of({ secret: "own", accountName: "none" })).rejects.toThrow("no account");
  await expect(of({ secret: "own" })).rejects.toThrow("no account");
});
