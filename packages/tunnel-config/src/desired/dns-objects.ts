/** DNSRecord objects for the hosts that an object serves (TUN-473). */
import { createHash } from "node:crypto";
import type { DNSRecord } from "../api.gen.ts";
import { dnsTarget } from "../constants.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import { trimEndOf, trimOf } from "./trim.ts";

const MAX_NAME = 63;
const isDash = (character: string): boolean => character === "-";

export interface DnsInputs {
  readonly namespace: string;
  /** Name of the object that serves the hosts. */
  readonly owner: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hosts: readonly string[];
  readonly tunnel: Cached<AnyTunnel>;
  /** Whether the record of a host goes through Cloudflare. */
  readonly proxied: boolean | ((host: string) => boolean);
}

/** One record for each host; owner references are for the caller to add. */
export function dnsObjects(inputs: DnsInputs): DNSRecord[] {
  const { namespace, labels, hosts, tunnel, proxied } = inputs;
  const taken = new Map<string, string>();
  return hosts.map((host) => {
    const plain = `${inputs.owner}-${host}`
      .toLowerCase()
      .replaceAll(".", "-")
      .replace(/[^a-z0-9-]/g, "");
    const bare = trimOf(plain, isDash);
    const name = bare.length > MAX_NAME || bare !== plain || taken.has(bare) ? hashedName(bare, host) : bare;
    taken.set(name, host);
    const { tunnelId = "" } = tunnel.status ?? {};
    const cloudflare = tunnel.spec?.cloudflare;
    return {
      apiVersion: "networking.cloudflare-operator.io/v1alpha2",
      kind: "DNSRecord",
      metadata: { name, namespace, labels: { ...labels } },
      spec: {
        name: host,
        type: "CNAME",
        content: dnsTarget(tunnelId),
        ttl: 1,
        proxied: typeof proxied === "boolean" ? proxied : proxied(host),
        ...(cloudflare !== undefined && { cloudflare: credentialsOf(cloudflare) }),
      },
    };
  });
}

/** Credentials of the tunnel without its domain: a host may be in another zone of the account. */
function credentialsOf({
  credentialsRef,
  secret,
  accountId,
}: NonNullable<NonNullable<Cached<AnyTunnel>["spec"]>["cloudflare"]>) {
  return {
    ...(credentialsRef !== undefined && { credentialsRef: { ...credentialsRef } }),
    ...(secret !== undefined && { secret }),
    ...(accountId !== undefined && { accountId }),
  };
}

/**
 * Name of a record whose usual one another object of the namespace has: that of the same name and another kind, or one with
 * another part of the same letters in its own name.
 */
export function otherName({ metadata: { name = "" }, spec }: DNSRecord, kind: string): string {
  return hashedName(name, `${kind} ${spec.name}`);
}

function hashedName(name: string, text: string): string {
  const end = `-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
  return trimEndOf(name.slice(0, MAX_NAME - end.length), isDash) + end;
}
