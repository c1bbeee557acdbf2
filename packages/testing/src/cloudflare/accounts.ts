/** Accounts, zones, tokens. */
import { accountOf, type CloudflareCall, type Route, zoneOf } from "./call.ts";
import { success } from "./envelope.ts";
import { pageOf, SMALL_PAGES } from "./pages.ts";
import { type Account, type Fields, hexId, type Zone } from "./state.ts";

export const ACCOUNT_ROUTES: readonly Route[] = [
  { method: "GET", path: "/accounts", permission: "account:read", handle: listAccounts },
  {
    method: "GET",
    path: "/accounts/:account",
    permission: "account:read",
    handle: (call) => success(accountFields(call.state.accounts.get(accountOf(call)) as Account)),
  },
  { method: "GET", path: "/zones", permission: "zone:read", handle: listZones },
  {
    method: "GET",
    path: "/zones/:zone",
    permission: "zone:read",
    handle: (call) => success(zoneFields(call, zoneOf(call))),
  },
  {
    method: "GET",
    path: "/user/tokens/verify",
    permission: undefined,
    handle: () => success({ id: hexId(), status: "active" }),
  },
];

function listAccounts({ state, query }: CloudflareCall) {
  const name = query.get("name");
  const all = [...state.accounts.values()].filter((account) => name === null || account.name === name);
  return pageOf(all.map(accountFields), query, SMALL_PAGES);
}

function listZones(call: CloudflareCall) {
  const { state, query } = call;
  const [name, account, status] = [query.get("name"), query.get("account.id"), query.get("status")];
  const all = [...state.zones.values()].filter(
    (zone) =>
      (name === null || zone.name === name.toLowerCase()) &&
      (account === null || zone.account === account) &&
      (status === null || status === "active"),
  );
  return pageOf(
    all.map((zone) => zoneFields(call, zone)),
    query,
    SMALL_PAGES,
  );
}

function accountFields({ id, name }: Account): Fields {
  return { id, name, type: "standard", settings: { enforce_twofactor: false } };
}

function zoneFields({ state }: CloudflareCall, { id, name, account, plan }: Zone): Fields {
  const owner = { id: account, name: state.accounts.get(account)?.name ?? "" };
  const servers = ["ada.ns.cloudflare.com", "bob.ns.cloudflare.com"];
  return { id, name, status: "active", name_servers: servers, account: owner, plan: { legacy_id: plan } };
}
