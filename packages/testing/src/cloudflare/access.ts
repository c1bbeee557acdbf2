/** Access applications, policies, groups and identity providers. */
import { randomUUID } from "node:crypto";
import { accountOf, type CloudflareCall, fieldsOf, type Route, textField } from "./call.ts";
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";
import { LARGE_PAGES, pageOf } from "./pages.ts";
import { type Fields, hexId, type ListName, outward, timeOf } from "./state.ts";

const ACCESS = "/accounts/:account/access";

const route = (method: string, path: string, handle: Route["handle"]): Route => ({
  method,
  path: ACCESS + path,
  permission: "access:edit",
  handle,
});

export const ACCESS_ROUTES: readonly Route[] = [
  ...crud("/apps", "apps", { check: checkApp, unknown: unknownApp, inUse: () => undefined }),
  ...crud("/policies", "policies", { check: checkPolicy, unknown: unknownPolicy, inUse: policyUser }),
  ...crud("/groups", "groups", { check: checkGroup, unknown: unknownGroup, inUse: () => undefined }),
  route("GET", "/identity_providers", (call) =>
    pageOf(of(call, "providers").map(outward), call.query, LARGE_PAGES),
  ),
  route("GET", "/identity_providers/:id", (call) =>
    success(outward(one(call, "providers", unknownProvider))),
  ),
  route("GET", "/apps/:id/policies", (call) => pageOf(policiesOf(call), call.query, LARGE_PAGES)),
  route("POST", "/apps/:id/policies", addPolicy),
  route("GET", "/apps/:id/policies/:policy", (call) => success(policyOf(call))),
  route("PUT", "/apps/:id/policies/:policy", (call) => {
    const policy = policyOf(call);
    checkPolicy(call, fieldsOf(call));
    return success(Object.assign(policy, fieldsOf(call), { updated_at: timeOf(call.state) }));
  }),
  route("DELETE", "/apps/:id/policies/:policy", (call) => {
    const policy = policyOf(call);
    const app = one(call, "apps", unknownApp);
    app.policies = policiesOf(call).filter((other) => other !== policy);
    return success({ id: policy.id });
  }),
];

interface Collection {
  /** What the body must be; refuses it, or says what is stored beside it. */
  readonly check: (call: CloudflareCall, fields: Fields) => Fields;
  readonly unknown: () => CloudflareRefusal;
  /** What holds the object and keeps it from being deleted. */
  readonly inUse: (call: CloudflareCall, found: Fields) => CloudflareRefusal | undefined;
}

function crud(path: string, list: ListName, { check, unknown, inUse }: Collection): Route[] {
  return [
    route("GET", path, (call) => {
      const name = call.query.get("name");
      const found = of(call, list).filter((other) => name === null || other.name === name);
      return pageOf(found.map(outward), call.query, LARGE_PAGES);
    }),
    route("POST", path, (call) => {
      const fields = fieldsOf(call);
      const id = randomUUID();
      const time = timeOf(call.state);
      const made = { id, uid: id, created_at: time, updated_at: time };
      const held = list === "apps" ? { policies: policiesFor(call, fields.policies, []) } : {};
      const stored = { ...fields, ...check(call, fields), ...held, ...made };
      call.state.lists[list].set(id, { ...stored, account: accountOf(call) });
      return success(stored, undefined, 201);
    }),
    route("GET", `${path}/:id`, (call) => success(outward(one(call, list, unknown)))),
    route("PUT", `${path}/:id`, (call) => {
      const { id, uid, aud, account, created_at, policies } = one(call, list, unknown);
      const fields = fieldsOf(call);
      const kept = {
        id,
        uid,
        ...(aud !== undefined && { aud }),
        account,
        created_at,
        updated_at: timeOf(call.state),
      };
      const held =
        list === "apps"
          ? { policies: policiesFor(call, fields.policies ?? policies, policies as Fields[]) }
          : {};
      const stored = { ...fields, ...check(call, fields), ...kept, ...held };
      call.state.lists[list].set(String(id), stored);
      return success(outward(stored));
    }),
    route("DELETE", `${path}/:id`, (call) => {
      const found = one(call, list, unknown);
      const user = inUse(call, found);
      if (user !== undefined) throw user;
      call.state.lists[list].delete(String(found.id));
      return success({ id: found.id }, undefined, 202);
    }),
  ];
}

function of(call: CloudflareCall, list: ListName): Fields[] {
  const account = accountOf(call);
  return [...call.state.lists[list].values()].filter((other) => other.account === account);
}

function one(call: CloudflareCall, list: ListName, unknown: () => CloudflareRefusal): Fields {
  const found = of(call, list).find(({ id }) => id === call.params.id);
  if (found === undefined) throw unknown();
  return found;
}

function unknownApp(): CloudflareRefusal {
  return new CloudflareRefusal(404, 11021, "access.api.error.unknown_application");
}

function unknownGroup(): CloudflareRefusal {
  return new CloudflareRefusal(404, 11021, "access.api.error.group_not_found");
}

function unknownPolicy(): CloudflareRefusal {
  return new CloudflareRefusal(404, 11021, "access.api.error.policy_not_found");
}

function unknownProvider(): CloudflareRefusal {
  return new CloudflareRefusal(404, 11021, "access.api.error.identity_provider_not_found");
}

function checkApp(_: CloudflareCall, fields: Fields): Fields {
  const type = textField(fields, "type", true);
  const domain = textField(fields, "domain");
  const destinations = fields.destinations as { type?: string; uri?: string }[] | undefined;
  if (type === "self_hosted" && domain === undefined && (destinations ?? []).length === 0) {
    throw new CloudflareRefusal(
      400,
      12130,
      "access.api.error.invalid_request: domain or destinations are required",
    );
  }
  const listed = destinations?.some(({ type: kind = "public", uri }) => kind === "public" && uri === domain);
  if (domain !== undefined && destinations !== undefined && listed !== true) {
    throw new CloudflareRefusal(
      400,
      12130,
      "access.api.error.invalid_request: domain must be one of the destinations",
    );
  }
  return { aud: hexId() + hexId() };
}

/**
 * Policies as an application holds them: those of the account by their identifiers, those of the application itself as
 * they were, and new ones of its own.
 */
function policiesFor(call: CloudflareCall, wanted: unknown, held: readonly Fields[]): Fields[] {
  const items = (Array.isArray(wanted) ? wanted : []) as (Fields | string)[];
  return items.map((item, index) => {
    const given: Fields = typeof item === "string" ? { id: item } : item;
    const precedence = given.precedence ?? index + 1;
    if (given.id === undefined) {
      checkPolicy(call, given);
      return { id: randomUUID(), ...given, precedence, reusable: false };
    }
    const own = held.find((policy) => policy.id === given.id && policy.reusable !== true);
    if (own !== undefined) return { ...own, precedence };
    const shared = of(call, "policies").find((policy) => policy.id === given.id);
    if (shared === undefined) throw new CloudflareRefusal(400, 12130, `unknown policy ${String(given.id)}`);
    return { ...outward(shared), precedence, reusable: true };
  });
}

function checkGroup(_: CloudflareCall, fields: Fields): Fields {
  textField(fields, "name", true);
  checkRules(fields, true);
  return {};
}

function checkPolicy(_: CloudflareCall, fields: Fields): Fields {
  textField(fields, "name", true);
  const decisions = ["allow", "deny", "bypass", "non_identity"];
  if (!decisions.includes(String(fields.decision))) {
    throw new CloudflareRefusal(400, 12130, `decision must be one of ${decisions.join(", ")}`);
  }
  checkRules(fields, true);
  return {};
}

/** Each rule has exactly one selector. */
function checkRules(fields: Fields, includeNeeded: boolean): void {
  if (includeNeeded && (!Array.isArray(fields.include) || fields.include.length === 0)) {
    throw new CloudflareRefusal(
      400,
      12130,
      "access.api.error.invalid_request: include must hold at least one rule",
    );
  }
  for (const part of ["include", "exclude", "require"]) {
    for (const rule of (fields[part] ?? []) as Fields[]) {
      if (typeof rule === "object" && rule !== null && Object.keys(rule).length === 1) continue;
      throw new CloudflareRefusal(
        400,
        12130,
        `access.api.error.invalid_request: ${part}: a rule has one selector`,
      );
    }
  }
}

function policyUser(call: CloudflareCall, { id }: Fields): CloudflareRefusal | undefined {
  const used = of(call, "apps").some(({ policies }) =>
    ((policies ?? []) as (Fields | string)[]).some((policy) => policy === id || (policy as Fields).id === id),
  );
  return used ? new CloudflareRefusal(400, 12132, "access.api.error.policy_in_use") : undefined;
}

function policiesOf(call: CloudflareCall): Fields[] {
  return (one(call, "apps", unknownApp).policies ?? []) as Fields[];
}

function policyOf(call: CloudflareCall): Fields {
  const found = policiesOf(call).find(({ id }) => id === call.params.policy);
  if (found === undefined) throw unknownPolicy();
  return found;
}

function addPolicy(call: CloudflareCall): CloudflareAnswer {
  const app = one(call, "apps", unknownApp);
  const fields = fieldsOf(call);
  checkPolicy(call, fields);
  const time = timeOf(call.state);
  const policy = {
    id: randomUUID(),
    precedence: policiesOf(call).length + 1,
    ...fields,
    reusable: false,
    created_at: time,
    updated_at: time,
  };
  app.policies = [...policiesOf(call), policy];
  return success(policy, undefined, 201);
}
