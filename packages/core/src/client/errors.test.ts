import { expect, it } from "vitest";
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isResourceVersionTooLarge,
} from "./errors.ts";
import { answer, CONFIG_MAP, object, serve, status } from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };

const PREDICATES = {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isResourceVersionTooLarge,
};

/** Names of the predicates that hold for an error. */
function holding(error: unknown): string[] {
  return Object.entries(PREDICATES)
    .filter(([, predicate]) => predicate(error))
    .map(([name]) => name);
}

async function failure(code: number, body: unknown, headers: Record<string, string> = {}): Promise<ApiError> {
  const { client } = await serve((_, response) => answer(response, code, body, headers));
  const error = await client.get(CONFIG_MAP, KEY).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

it.each([
  [404, "NotFound", [], ["isNotFound"]],
  [404, "", [], ["isNotFound"]],
  [409, "AlreadyExists", [], ["isAlreadyExists"]],
  [409, "Conflict", [], ["isConflict"]],
  [409, "Other", [], []],
  [403, "Forbidden", [], ["isForbidden"]],
  [422, "Invalid", [], ["isInvalid"]],
  [410, "Expired", [], ["isExpired"]],
  [410, "Gone", [], ["isExpired"]],
  [410, "Other", [], []],
  [504, "Timeout", ["ResourceVersionTooLarge"], ["isResourceVersionTooLarge"]],
  [504, "Timeout", [], []],
  [403, "Forbidden", ["NamespaceTerminating"], ["isForbidden", "isNamespaceTerminating"]],
  [500, "InternalError", [], []],
])("CORE-119 judges %i %s %j", async (code, reason, causes, expected) => {
  const details = { causes: causes.map((cause) => ({ reason: cause })) };
  expect(holding(await failure(code, status(code, reason, "m", details)))).toEqual(expected.toSorted());
});

it("CORE-119 holds for errors of the server only", () => {
  expect(holding(Object.assign(new Error("x"), { code: 404, reason: "NotFound" }))).toEqual([]);
  expect(holding(undefined)).toEqual([]);
});

it("CORE-118 carries what the server said", async () => {
  const causes = [{ reason: "FieldValueInvalid", message: "must be positive", field: "spec.replicas" }];
  const details = { name: "a", kind: "configmaps", group: "", causes, retryAfterSeconds: 7 };
  const error = await failure(422, status(422, "Invalid", 'ConfigMap "a" is invalid', details));
  expect(error).toMatchObject({
    name: "ApiError",
    code: 422,
    reason: "Invalid",
    message: 'ConfigMap "a" is invalid',
    details: { name: "a", kind: "configmaps", causes },
    retryAfterSeconds: 7,
    method: "GET",
    path: "/api/v1/namespaces/ns/configmaps/a",
  });
});

it("CORE-118 gives a list of causes even when the server sent none", async () => {
  const error = await failure(500, status(500, "InternalError", "boom"));
  expect(error.details.causes).toEqual([]);
  expect(error.retryAfterSeconds).toBeUndefined();
});

it("CORE-118 takes the first 256 bytes of a body that is no Status, cut at a character", async () => {
  const html = `<html>${"x".repeat(249)}é and so on`;
  const error = await failure(502, html, { "content-type": "text/html" });
  expect(error.message).toBe(`<html>${"x".repeat(249)}`);
  expect(error.reason).toBe("");
  expect((await failure(502, "", {})).message).toBe("the server answered 502 without a message");
});

it("CORE-118 shows no token, even when the answer echoes the request", async () => {
  const { client } = await serve((request, response) =>
    answer(response, 400, `bad request\nauthorization: ${request.headers.authorization}; token=test-token`),
  );
  const error = (await client.get(CONFIG_MAP, KEY).catch((caught: unknown) => caught)) as ApiError;
  expect(error.message).toContain("bad request");
  const shown = JSON.stringify([error.message, error.stack, { ...error }]);
  expect(shown).not.toContain("test-token");
});

it("CORE-118 shows no token in an error of the connection", async () => {
  const { client } = await serve((request) => void request.socket.destroy());
  const body = object(CONFIG_MAP, "a");
  const error = (await client.create(CONFIG_MAP, body).catch((caught: unknown) => caught)) as Error;
  expect(error.message).toMatch(/^POST \/api\/v1\/namespaces\/ns\/configmaps: /);
  expect(JSON.stringify([error.message, error.stack, { ...error }, error.cause])).not.toContain("test-token");
});

it("passes the token on with which an expired list can go on", async () => {
  const body = { ...status(410, "Expired", "expired"), metadata: { continue: "next" } };
  expect((await failure(410, body)).continueToken).toBe("next");
});

it("takes a redirect for an error, of requests and watches", async () => {
  const { client } = await serve((_, response) => answer(response, 302, "moved", { location: "/login" }));
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ name: "ApiError", code: 302 });
  const events = client.watch(CONFIG_MAP, {})[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ name: "ApiError", code: 302 });
});

it("names a success that is not JSON, without quoting it", async () => {
  const { client } = await serve((_, response) => answer(response, 200, '{"password": hidden}'));
  const error = (await client.get(CONFIG_MAP, KEY).catch((caught: unknown) => caught)) as Error;
  expect(error).toMatchObject({ name: "ConnectionError", code: "EBADJSON" });
  expect(error.message).toContain(
    "GET /api/v1/namespaces/ns/configmaps/a: the answer with code 200 is not JSON",
  );
  expect(error.message).not.toContain("hidden");
});
