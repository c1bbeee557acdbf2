/** HTTPRoutes: what became of them at each of our Gateways (TUN-530). Rules are the sync's. */
import type { Clock, DeepReadonly, Reconcile } from "@quartet/core";
import { GATEWAY_CONTROLLER, PREFIX } from "../constants.ts";
import { deniedHosts } from "../desired/aggregate.ts";
import { type Conflict, type Rejection, rejectionText } from "../desired/document.ts";
import type { RouteContribution } from "../desired/sources/http-route.ts";
import { HTTP_ROUTE, type ParentRef, type RouteParentStatus } from "../gateway-kinds.ts";
import { type Wanted, withConditions } from "./conditions.ts";
import { type PlacedAttachment, readGateways } from "./gateway-world.ts";
import { createHostLimits } from "./host-limits.ts";
import { createNoticeBook } from "./notice-book.ts";
import { storedDocument } from "./tunnel-run.ts";
import { readWorld } from "./world.ts";

export interface RouteOptions {
  readonly clock: Clock;
  readonly operatorNamespace: string;
}

/** Longest message of a condition, in characters; the Gateway API takes 32768. */
const MAX_MESSAGE = 1024;

/** Reconcile of HTTPRoutes. */
export function createRouteReconcile({ clock, operatorNamespace }: RouteOptions): Reconcile {
  const book = createNoticeBook();
  const limits = createHostLimits();
  return async (key, ctx) => {
    const route = await ctx.cache.get(HTTP_ROUTE, key);
    if (route === undefined) return book.forget(key);
    if (route.metadata.deletionTimestamp !== undefined) return;
    const world = await readWorld(ctx.cache, operatorNamespace);
    const gateways = await readGateways(ctx.cache, world, route);
    const limitsNow = await limits(ctx.cache, world);
    const ours = gateways.attachments(route).filter(({ target }) => target.state !== "foreign");
    const before = (route.status?.parents ?? []) as readonly RouteParentStatus[];
    const parents: RouteParentStatus[] = before.filter(
      ({ controllerName }) => controllerName !== GATEWAY_CONTROLLER,
    );
    const notices = new Map<string, RouteContribution["notices"][number]>();
    for (const attachment of ours) {
      const contribution = gateways.contribution(route, [attachment]);
      for (const notice of contribution.notices) notices.set(`${notice.reason} ${notice.message}`, notice);
      const document = await storedDocument(attachment.tunnelId, ctx.cache, operatorNamespace);
      const own = `HTTPRoute/${key.namespace}/${key.name}`;
      const lost = (document?.conflicts ?? []).filter(({ losers }) => losers.includes(own));
      const rejected = (document?.rejected ?? []).filter(({ source }) => source === own);
      const limited = limitsNow(attachment.tunnelId)(contribution.source);
      const wanted = conditionsOf(attachment, { ...contribution, source: limited }, lost, rejected);
      const old = before.find(
        ({ controllerName, parentRef }) =>
          controllerName === GATEWAY_CONTROLLER && sameRef(parentRef, attachment.ref),
      );
      const types = new Set(wanted.map(({ type }) => type));
      const kept = (Array.isArray(old?.conditions) ? old.conditions : []).filter(
        ({ type }: { type: string }) => types.has(type),
      );
      const conditions = withConditions(kept, wanted, route.metadata.generation ?? 0, clock.now());
      parents.push({ parentRef: { ...attachment.ref }, controllerName: GATEWAY_CONTROLLER, conditions });
    }
    book.tell(ctx.events, route, [...notices.values()]);
    if (parents.length > 0 || before.length > 0)
      await ctx.client.patchStatus(HTTP_ROUTE, route, { ...route.status, parents });
  };
}

function sameRef(a: DeepReadonly<ParentRef>, b: DeepReadonly<ParentRef>): boolean {
  const text = ({ group, kind, namespace, name, sectionName, port }: DeepReadonly<ParentRef>): string =>
    JSON.stringify([group, kind, namespace, name, sectionName, port]);
  return text(a) === text(b);
}

function conditionsOf(
  { refusal, target }: PlacedAttachment,
  { unsupported, empty, unresolved, source }: RouteContribution,
  lost: readonly Conflict[],
  refused: readonly Rejection[],
): Wanted[] {
  const [first] = unresolved;
  const resolved: Wanted =
    first === undefined
      ? { type: "ResolvedRefs", on: true, reason: "ResolvedRefs" }
      : {
          type: "ResolvedRefs",
          on: false,
          reason: first.reason,
          message: joined(unresolved.map(({ message }) => message)),
        };
  if (refusal !== undefined) return [{ type: "Accepted", on: false, ...refusal }, resolved];
  if (target.state === "unknown")
    return [{ type: "Accepted", on: false, reason: "NoMatchingParent", message: target.message }, resolved];
  const denied = deniedHosts("", source);
  const rejected = refused.filter(({ cause }) => cause !== "HostNotAllowed");
  const left = [...unsupported, ...denied.map(({ reason }) => reason), ...rejected.map(rejectionText)];
  const reason = left.length > denied.length ? "UnsupportedValue" : "HostNotAllowed";
  const hasNoRoom = rejected.some(({ cause }) => cause === "ConfigTooLarge");
  const nothing =
    empty || hasNoRoom || (denied.length + rejected.length > 0 && rejected.length === claimsOf(source));
  if (nothing) return [{ type: "Accepted", on: false, reason, message: joined(left) }, resolved];
  return [
    { type: "Accepted", on: true, reason: "Accepted" },
    resolved,
    ...(left.length > 0 ? [{ type: "PartiallyInvalid", on: true, reason, message: joined(left) }] : []),
    ...(lost.length > 0
      ? [
          {
            type: `${PREFIX}/RuleConflict`,
            on: true,
            reason: "AlreadyServed",
            message: joined(
              lost.map(({ hostname, path, winner }) => `${hostname}${path} is served by ${winner}`),
            ),
          },
        ]
      : []),
  ];
}

/** What a source may claim: its rules, and a fallback of its own. */
function claimsOf({ rules = [], settings = {} }: RouteContribution["source"]): number {
  const { fallbackTarget, fallbackOfClass, fallbackDenied } = settings;
  const falls = fallbackTarget !== undefined && fallbackOfClass !== true && fallbackDenied === undefined;
  return rules.filter(({ denied }) => denied === undefined).length + (falls ? 1 : 0);
}

function joined(texts: readonly string[]): string {
  return [...new Set(texts)].join("; ").slice(0, MAX_MESSAGE);
}
