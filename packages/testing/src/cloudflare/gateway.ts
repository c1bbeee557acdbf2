/** Rules of the secure web gateway. */
import { randomUUID } from "node:crypto";
import { accountOf, type CloudflareCall, fieldsOf, type Route, textField } from "./call.ts";
import { CloudflareRefusal, success } from "./envelope.ts";
import { type Fields, outward, timeOf } from "./state.ts";

const ALL = "/accounts/:account/gateway/rules";
const ONE = `${ALL}/:id`;
/** Longest description. */
const DESCRIPTION = 1000;

const route = (method: string, path: string, handle: Route["handle"]): Route => ({
  method,
  path,
  permission: "zero-trust:edit",
  handle,
});

export const GATEWAY_ROUTES: readonly Route[] = [
  route("GET", ALL, (call) => success(rules(call).map(outward))),
  route("POST", ALL, (call) => {
    const fields = checked(call, undefined);
    const id = randomUUID();
    const time = timeOf(call.state);
    const stored = { id, ...fields, version: 1, created_at: time, updated_at: time };
    call.state.lists.rules.set(id, { ...stored, account: accountOf(call) });
    return success(stored);
  }),
  route("GET", ONE, (call) => success(outward(ruleOf(call)))),
  route("PUT", ONE, (call) => {
    const { id, account, created_at, version } = ruleOf(call);
    const fields = checked(call, id);
    const stored = {
      ...fields,
      id,
      account,
      created_at,
      version: Number(version) + 1,
      updated_at: timeOf(call.state),
    };
    call.state.lists.rules.set(String(id), stored);
    return success(outward(stored));
  }),
  route("DELETE", ONE, (call) => {
    call.state.lists.rules.delete(String(ruleOf(call).id));
    return success({});
  }),
];

function rules(call: CloudflareCall): Fields[] {
  const account = accountOf(call);
  return [...call.state.lists.rules.values()].filter((rule) => rule.account === account);
}

function ruleOf(call: CloudflareCall): Fields {
  const found = rules(call).find(({ id }) => id === call.params.id);
  if (found === undefined) throw new CloudflareRefusal(404, 2009, "rule not found");
  return found;
}

function checked(call: CloudflareCall, own: unknown): Fields {
  const fields = fieldsOf(call);
  textField(fields, "name", true);
  textField(fields, "action", true);
  if ((textField(fields, "description") ?? "").length > DESCRIPTION) {
    throw new CloudflareRefusal(400, 2010, `description is longer than ${DESCRIPTION} characters`);
  }
  const same = rules(call).some((rule) => rule.id !== own && rule.precedence === fields.precedence);
  if (same && fields.precedence !== undefined) {
    throw new CloudflareRefusal(400, 2011, "precedence is already used by another rule");
  }
  return fields;
}
