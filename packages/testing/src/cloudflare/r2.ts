/** R2 buckets. */
import { accountOf, type CloudflareCall, fieldsOf, type Route, textField } from "./call.ts";
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";
import type { Bucket } from "./state.ts";

const ALL = "/accounts/:account/r2/buckets";
const ONE = `${ALL}/:name`;
const NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
const LOCATIONS = new Set(["apac", "eeur", "enam", "weur", "wnam", "oc"]);
const USUAL_PAGE = 20;

const route = (method: string, path: string, handle: Route["handle"]): Route => ({
  method,
  path,
  permission: "r2:edit",
  handle: (call) => {
    if (call.state.withoutR2.has(accountOf(call))) {
      throw new CloudflareRefusal(403, 10042, "Please enable R2 through the Cloudflare Dashboard.");
    }
    return handle(call);
  },
});

export const R2_ROUTES: readonly Route[] = [
  route("POST", ALL, create),
  route("GET", ALL, list),
  route("GET", ONE, (call) => success(bucketOf(call).fields)),
  route("DELETE", ONE, remove),
  route("GET", `${ONE}/cors`, (call) => {
    const { cors } = bucketOf(call);
    if (cors.length === 0) throw new CloudflareRefusal(404, 10059, "The CORS configuration does not exist.");
    return success({ rules: cors });
  }),
  route("PUT", `${ONE}/cors`, (call) => {
    bucketOf(call).cors = rulesOf(call);
    return success({});
  }),
  route("DELETE", `${ONE}/cors`, (call) => {
    bucketOf(call).cors = [];
    return success({});
  }),
  route("GET", `${ONE}/lifecycle`, (call) => success({ rules: bucketOf(call).lifecycle })),
  route("PUT", `${ONE}/lifecycle`, (call) => {
    bucketOf(call).lifecycle = rulesOf(call);
    return success({});
  }),
];

/** Names of buckets are unique within an account. */
const keyOf = (account: string, name: string): string => `${account}/${name}`;

function bucketOf(call: CloudflareCall): Bucket {
  const found = call.state.buckets.get(keyOf(accountOf(call), call.params.name ?? ""));
  if (found === undefined) throw new CloudflareRefusal(404, 10006, "The specified bucket does not exist.");
  return found;
}

function rulesOf(call: CloudflareCall): unknown[] {
  const { rules } = fieldsOf(call);
  if (!Array.isArray(rules))
    throw new CloudflareRefusal(400, 10040, "The JSON you provided was not well formed.");
  return rules;
}

function create(call: CloudflareCall): CloudflareAnswer {
  const account = accountOf(call);
  const fields = fieldsOf(call);
  const name = textField(fields, "name", true) as string;
  if (!NAME.test(name)) throw new CloudflareRefusal(400, 10005, "The specified bucket name is not valid.");
  const hint = textField(fields, "locationHint");
  if (hint !== undefined && !LOCATIONS.has(hint)) {
    throw new CloudflareRefusal(400, 10064, "The specified location hint is not valid.");
  }
  if (call.state.buckets.has(keyOf(account, name))) {
    throw new CloudflareRefusal(409, 10004, "The bucket you tried to create already exists, and you own it.");
  }
  const stored = {
    name,
    creation_date: new Date(call.state.now()).toISOString(),
    location: (hint ?? "weur").toUpperCase(),
    storage_class: textField(fields, "storageClass") ?? "Standard",
  };
  call.state.buckets.set(keyOf(account, name), { fields: stored, cors: [], lifecycle: [], objects: 0 });
  return success(stored);
}

function list(call: CloudflareCall): CloudflareAnswer {
  const prefix = keyOf(accountOf(call), "");
  const perPage = Number(call.query.get("per_page") ?? USUAL_PAGE);
  const after = call.query.get("cursor") ?? "";
  const names = [...call.state.buckets.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = names.slice(0, perPage);
  const buckets = page.map((key) => call.state.buckets.get(key)?.fields);
  const cursor = names.length > perPage ? (page.at(-1) ?? "") : "";
  return success({ buckets }, { cursor, per_page: perPage });
}

function remove(call: CloudflareCall): CloudflareAnswer {
  const bucket = bucketOf(call);
  if (bucket.objects > 0)
    throw new CloudflareRefusal(409, 10008, "The bucket you tried to delete is not empty.");
  call.state.buckets.delete(keyOf(accountOf(call), bucket.fields.name));
  return success({});
}
