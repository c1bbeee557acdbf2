/** Keeps the webhook's certificates in a Secret: any replica may make or renew them, all replicas follow. */
import type { Cache } from "../cache/types.ts";
import { isAlreadyExists, isConflict } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import { type Clock, sleep } from "../clock.ts";
import { type ConfigObject, SECRET } from "../kinds/index.ts";
import type { ObjectKey } from "../object.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import { CA_LIFE_MS, inspectCertificate, LEAF_LIFE_MS, splitPem } from "./certificates.ts";
import { type CertificateSet, isSignedBy, rotate } from "./rotation.ts";
import type { ServingPair } from "./server.ts";

/** Certificates are looked at once an hour; a change of the Secret is seen at once. */
const CHECK_EVERY_MS = 60 * 60 * 1000;
/** Short-lived certificates (tests) are looked at ten times in their life. */
const CHECKS_PER_LIFE = 10;
/** Jitter keeps replicas from renewing at the same moment. */
const CHECK_JITTER = 0.1;
/** A check that failed is made again after this time: an outdated certificate is served until then. */
const RETRY_MS = 10_000;
/** API servers learn of a new CA by a watch: they get this time, or a part of a short leaf's life, before it is used. */
const SETTLE_MS = 10_000;
const SETTLE_PART = 0.05;
/** A replica that lost the race to write reads the winner's Secret this many times. */
const MAX_RACES = 5;

export interface CertificateManagerOptions {
  client: Client;
  cache: Cache;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  /** True on the replica that renews what is due (CORE-347). Others follow, and make what is missing. */
  renews: () => boolean;
  /** True when the API server's configurations hold a CA (PEM): only then a leaf of it is made. */
  isInjected: (ca: string) => boolean;
  /** The Secret, `<release>-webhook-cert` in the chart. */
  secret: ObjectKey;
  names: readonly string[];
  leafLifeMs?: number;
  caLifeMs?: number;
  random?: () => number;
  /** Called with the first certificates and after each change. */
  onChange: (current: CurrentCertificates) => void;
}

export interface CurrentCertificates extends ServingPair {
  /** PEM of the CA, and of its predecessor while both are in use. */
  caBundle: string;
  /** PEM of the CA that the serving certificate is of. */
  issuer: string;
  /** End of the serving certificate, milliseconds since the Unix epoch. */
  notAfter: number;
}

export interface CertificateManager {
  /** Reads or makes the Secret; `onChange` has been called when it resolves. */
  start(): Promise<void>;
  /** Renews what is due and follows the Secret until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCertificateManager(options: CertificateManagerOptions): CertificateManager {
  const { client, cache, clock, log, events } = options;
  const leafLifeMs = options.leafLifeMs ?? LEAF_LIFE_MS;
  const caLifeMs = options.caLifeMs ?? CA_LIFE_MS;
  const random = options.random ?? Math.random;
  const interval = Math.min(CHECK_EVERY_MS, leafLifeMs / CHECKS_PER_LIFE);
  const settleMs = Math.min(SETTLE_MS, leafLifeMs * SETTLE_PART);
  let firstPause = interval;
  let served: CertificateSet | undefined;
  let injected: { ca: string; at: number } | undefined;

  /** True once a CA has been in all places for a while. */
  const isTrusted = (ca: string): boolean => {
    if (!options.isInjected(ca)) injected = undefined;
    else if (injected?.ca !== ca) injected = { ca, at: clock.monotonic() };
    return injected !== undefined && clock.monotonic() - injected.at >= settleMs;
  };

  /** Resolves with the longest time until the next check. */
  const check = async (): Promise<number> => {
    for (let race = 0; race < MAX_RACES; race += 1) {
      const live = await readSecret(client, options.secret);
      const rotation = await rotate(live === undefined ? undefined : decode(live), {
        names: options.names,
        now: clock.now(),
        leafLifeMs,
        caLifeMs,
        renews: options.renews(),
        served,
        isTrusted,
      });
      if (rotation.reason !== undefined) {
        if (!(await write(client, options.secret, live, rotation.set))) continue;
        log.info("webhook certificates written", { reason: rotation.reason, secret: options.secret });
        if (rotation.reason === "unusable" && live !== undefined) {
          const note = `The webhook certificates were made anew: ${rotation.problem}.`;
          events.record(live, { type: "Warning", reason: "CertificateUnusable", note });
        }
      }
      publish(rotation.set);
      return rotation.waits || rotation.reason !== undefined ? settleMs : interval;
    }
    throw new Error(
      `the Secret ${options.secret.namespace}/${options.secret.name} changes faster than it can be read`,
    );
  };

  const publish = (set: CertificateSet): void => {
    const same = served?.["tls.crt"] === set["tls.crt"] && served["ca.crt"] === set["ca.crt"];
    served = set;
    if (same) return;
    options.onChange({
      cert: set["tls.crt"],
      key: set["tls.key"],
      caBundle: set["ca.crt"],
      issuer: splitPem(set["ca.crt"]).find((ca) => isSignedBy(set["tls.crt"], ca)) ?? "",
      notAfter: inspectCertificate(set["tls.crt"]).notAfter,
    });
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const informer = cache.informer(SECRET, {
      namespaces: [options.secret.namespace],
      fieldSelector: `metadata.name=${options.secret.name}`,
    });
    let wake = (): void => {};
    /** The Secret changed since the last check began. */
    let changed = false;
    const stop = informer.addHandler(() => {
      changed = true;
      wake();
    });
    let pause = firstPause;
    try {
      while (!signal.aborted) {
        const round = new AbortController();
        wake = () => round.abort();
        const wait = pause * (1 - CHECK_JITTER + 2 * CHECK_JITTER * random());
        if (!changed) await sleep(clock, wait, AbortSignal.any([signal, round.signal])).catch(() => {});
        if (signal.aborted) return;
        changed = false;
        pause = await check().catch((error) => {
          const retryAfterMs = Math.min(interval, RETRY_MS);
          log.error("webhook certificates could not be checked", { error, retryAfterMs });
          return retryAfterMs;
        });
      }
    } finally {
      stop();
      cache.release(informer);
    }
  };

  return {
    async start() {
      firstPause = await check();
    },
    run,
  };
}

async function readSecret(client: Client, key: ObjectKey): Promise<ConfigObject | undefined> {
  const list = await client.list(SECRET, {
    namespace: key.namespace,
    fieldSelector: `metadata.name=${key.name}`,
  });
  return list.items[0];
}

/** Writes the Secret; false when another replica was faster. */
async function write(
  client: Client,
  key: ObjectKey,
  live: ConfigObject | undefined,
  set: CertificateSet,
): Promise<boolean> {
  const data = Object.fromEntries(
    Object.entries(set).map(([name, text]) => [name, Buffer.from(text, "utf8").toString("base64")]),
  );
  try {
    if (live === undefined) {
      await client.create(SECRET, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { ...key },
        type: "Opaque",
        data,
      });
    } else {
      await client.update(SECRET, { ...live, data: { ...live.data, ...data } });
    }
    return true;
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error)) return false;
    throw error;
  }
}

function decode(secret: ConfigObject): Partial<CertificateSet> {
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([name, base64]) => [
      name,
      Buffer.from(base64, "base64").toString("utf8"),
    ]),
  );
}
