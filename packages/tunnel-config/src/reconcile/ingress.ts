/** Ingresses: their status, their DNS records, and what their owners should know. Rules are the sync's. */
import type { Reconcile, ReconcileContext } from "@quartet/core";
import { dnsTarget, INGRESS_PREFIX, LEGACY_INGRESS_FINALIZER } from "../constants.ts";
import { dnsObjects } from "../desired/dns-objects.ts";
import type { OptionNotice } from "../desired/origin-request.ts";
import { annotatedFlag } from "../desired/sources/annotations.ts";
import { hostsOf, ingressSource, servicesOf } from "../desired/sources/ingress.ts";
import { ingressTarget, refText, type Target } from "../desired/targets.ts";
import { type AnyTunnel, type Cached, INGRESS, type Ingress } from "../kinds.ts";
import { keepDnsRecords } from "./dns-children.ts";
import { dropFinalizer } from "./drop-finalizer.ts";
import { createHostLimits } from "./host-limits.ts";
import { createNoticeBook } from "./notice-book.ts";
import { readWorld, servicesNamed } from "./world.ts";

const TARGET = /\.cfargotunnel\.com$/;

/** Reconcile of Ingresses. */
export function createIngressReconcile({
  operatorNamespace,
}: {
  readonly operatorNamespace: string;
}): Reconcile {
  const book = createNoticeBook();
  const limits = createHostLimits();
  return async (key, ctx) => {
    const ingress = await ctx.cache.get(INGRESS, key);
    if (ingress === undefined) return book.forget(key);
    // Rules go by themselves here, so nothing needs to hold an Ingress back (TUN-476).
    await dropFinalizer(INGRESS, ingress, LEGACY_INGRESS_FINALIZER, ctx);
    if (ingress.metadata.deletionTimestamp !== undefined) return;
    const world = await readWorld(ctx.cache, operatorNamespace);
    const target = ingressTarget(ingress, world);
    if (target.state === "foreign") {
      await release(ingress, ctx);
      return;
    }
    const config = target.state === "known" ? target.config : undefined;
    const { source, notices: told } = ingressSource(ingress, {
      config,
      service: await servicesNamed(
        ctx.cache,
        servicesOf(ingress).map((name) => ({ namespace: key.namespace, name })),
      ),
    });
    const notices: OptionNotice[] = [...told];
    const tunnel = target.state === "known" ? world.tunnel(target.ref) : undefined;
    notices.push(...targetNotices(target, tunnel));
    const tunnelId = tunnel?.status?.tunnelId;
    if (tunnel !== undefined && tunnelId) {
      const annotations = ingress.metadata.annotations ?? {};
      const manual = config?.spec.dnsManagement === "Manual";
      const disabled = annotatedFlag(annotations, "disable-dns", notices) === true;
      const proxied = annotatedFlag(annotations, "dns-proxied", notices) ?? config?.spec.dnsProxied ?? true;
      const labels = {
        [`${INGRESS_PREFIX}/managed-by`]: "cloudflare-operator-ingress",
        [`${INGRESS_PREFIX}/ingress-name`]: key.name.slice(0, 63),
      };
      const limit = (await limits(ctx.cache, world))(tunnelId);
      const hosts = manual || disabled ? [] : hostsOf(limit(source));
      await keepDnsRecords(
        ctx,
        { kind: INGRESS, object: ingress },
        dnsObjects({ ...key, owner: key.name, labels, hosts, tunnel, proxied }),
      );
      await setAddress(ingress, [{ hostname: dnsTarget(tunnelId) }], ctx);
    }
    book.tell(ctx.events, ingress, notices);
  };
}

function targetNotices(target: Target, tunnel: Cached<AnyTunnel> | undefined): OptionNotice[] {
  if (target.state === "unknown") return [{ reason: target.reason, message: target.message }];
  if (target.state === "foreign" || tunnel?.status?.tunnelId) return [];
  const message =
    tunnel === undefined ? `there is no ${refText(target.ref)}` : `${refText(target.ref)} has no tunnel yet`;
  return [{ reason: "TunnelNotReady", message }];
}

/** An Ingress of another class keeps nothing of ours. */
async function release(ingress: Cached<Ingress>, ctx: ReconcileContext): Promise<void> {
  const addresses = ingress.status?.loadBalancer?.ingress ?? [];
  if (!addresses.some(({ hostname = "" }) => TARGET.test(hostname))) return;
  await keepDnsRecords(ctx, { kind: INGRESS, object: ingress }, []);
  await setAddress(
    ingress,
    addresses.filter(({ hostname = "" }) => !TARGET.test(hostname)),
    ctx,
  );
}

async function setAddress(
  ingress: Cached<Ingress>,
  addresses: readonly object[],
  ctx: ReconcileContext,
): Promise<void> {
  const loadBalancer = addresses.length === 0 ? {} : { ingress: addresses };
  await ctx.client.patchStatus(INGRESS, ingress, { ...ingress.status, loadBalancer });
}
