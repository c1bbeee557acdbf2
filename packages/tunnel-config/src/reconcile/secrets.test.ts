import type { SourceReader } from "@quartet/core";
import { expect, it } from "vitest";
import { createSecrets } from "./secrets.ts";

it("TUN-109 a Secret is fetched once for each version of it, and not at all when nothing names it", async () => {
  let version: string | undefined = "1";
  let fetched = 0;
  const get = async () => {
    fetched += 1;
    return { apiVersion: "v1", kind: "Secret", metadata: {}, data: { token: `v${version}` } } as never;
  };
  const cache = {
    get: async () =>
      version === undefined ? undefined : { metadata: { uid: "u", resourceVersion: version } },
  } as unknown as SourceReader;
  const secrets = createSecrets({ get });
  const read = async () => (await secrets.read({ namespace: "a", name: "cf" }, cache))?.data?.token;
  expect([await read(), await read(), fetched]).toEqual(["v1", "v1", 1]);
  version = "2";
  expect([await read(), fetched]).toEqual(["v2", 2]);
  version = undefined;
  expect([await read(), fetched]).toEqual([undefined, 2]);
});
