/** The webhook server with its certificates, for the modules that have webhooks. */
import {
  type Cache,
  type Client,
  type Clock,
  ConfigurationError,
  type ControllerModule,
  convertedCrds,
  holds,
  type Logger,
  type ManagerHandle,
  type ManagerWebhooks,
  openSources,
  servesHooks,
  type WebhookMetrics,
  webhookMetrics,
  webhookName,
  webhookSecretName,
} from "@quartet/core";
import type { CurrentCertificates, ServingPair, WebhookServer } from "@quartet/core/webhook";
import type { ManagerSettings } from "./config/settings.ts";
import { flagsOf } from "./flags-of.ts";

export interface WebhookOptions {
  settings: ManagerSettings;
  modules: readonly ControllerModule[];
  client: Client;
  cache: Cache;
  clock: Clock;
  log: Logger;
  /** Namespace of the Service and of the Secret. */
  namespace: string | undefined;
  /** This process runs beside a cluster: the API server reaches it on this machine, not by a Service. */
  outside: boolean;
  /** No chart has registered the webhooks: the manager does so itself while it runs, with a certificate of its own. */
  register: boolean;
  /** Lives of own certificates, unless they are the usual ones. */
  lives?: CertificateLives;
  /** The manager, which is built after its servers. */
  manager: () => ManagerHandle;
}

/** Lives of the certificates that the manager makes, milliseconds. */
export interface CertificateLives {
  leafLifeMs?: number;
  caLifeMs?: number;
}

/** Webhooks, and the URL of their server once it runs. */
export interface AddressedWebhooks extends ManagerWebhooks {
  url(): string | undefined;
}

/** A source of certificates in use. */
interface Certificates {
  readonly pair: ServingPair;
  /** PEM of the CA, where this process alone knows it. */
  readonly ca?: string;
  readonly notAfter: () => number;
  /** Where the API server does not know yet whom to trust. */
  readonly untrusted: () => readonly string[];
  stop(): void;
}

/** Webhooks of the modules; `undefined` when there are none or they are switched off. */
export function createWebhooks(options: WebhookOptions): AddressedWebhooks | undefined {
  const { settings, modules, clock } = options;
  const { port } = settings.webhook;
  if (port === undefined || !servesHooks(modules, settings.moduleFlags)) return undefined;
  let server: WebhookServer | undefined;
  let certificates: Certificates | undefined;
  let unregister = async (): Promise<void> => {};
  return {
    name: "webhooks",
    url: () => server && `https://127.0.0.1:${server.port}`,
    check() {
      if (server === undefined || certificates === undefined) return "not listening";
      if (certificates.notAfter() <= clock.now()) return "certificate has expired";
      const untrusted = certificates.untrusted();
      return untrusted.length === 0 ? undefined : `CA not injected yet: ${untrusted.join(", ")}`;
    },
    async start() {
      const { bindWebhooks, startWebhookServer } = await import("@quartet/core/webhook");
      const manager = options.manager();
      const webhooks = modules.flatMap((module) => {
        const flags = flagsOf(module, settings);
        return bindWebhooks(module.webhooks ?? [], manager.forModule(module, flags), flags);
      });
      const metrics = webhookMetrics(
        manager.metrics,
        webhooks.map((webhook) => webhook.path),
      );
      const { cache } = options;
      const sources = new Map(
        webhooks.map((webhook) => [webhook, openSources(webhook.name, cache, webhook.reads)]),
      );
      certificates = await openCertificates(options, metrics, (pair) => server?.setCertificate(pair));
      const clientCa = await readClientCa(settings);
      server = await startWebhookServer({
        port,
        certificate: certificates.pair,
        webhooks,
        conversions: modules.flatMap(({ conversions = [] }) =>
          conversions.filter(({ when }) => holds(when, settings.moduleFlags)),
        ),
        ...(clientCa !== undefined && { clientCa }),
        log: options.log.named("webhook"),
        clock,
        observer: metrics,
        sourcesOf: (webhook) => sources.get(webhook)!,
      });
      if (options.register) unregister = await register(options, server.port, certificates);
    },
    async stop() {
      await unregister().catch((error) => options.log.warn("Webhooks stay registered", { error }));
      certificates?.stop();
      await server?.close();
    },
  };
}

async function readClientCa(settings: ManagerSettings): Promise<string | undefined> {
  const file = settings.webhook.clientCA;
  if (file === undefined) return undefined;
  const { readFile } = await import("node:fs/promises");
  return readFile(file, "utf8").catch((error: Error) => {
    throw new ConfigurationError(`--webhook-client-ca: cannot read ${file}: ${error.message}`);
  });
}

type OnPair = (pair: ServingPair) => void;

function openCertificates(
  options: WebhookOptions,
  metrics: WebhookMetrics,
  onPair: OnPair,
): Promise<Certificates> {
  if (options.register) return passingCertificate(options, metrics);
  return options.settings.webhook.certMode === "self"
    ? ownCertificates(options, metrics, onPair)
    : fileCertificates(options, metrics, onPair);
}

/** A certificate for as long as this process runs, which nobody else ever needs. */
async function passingCertificate({ clock }: WebhookOptions, metrics: WebhookMetrics): Promise<Certificates> {
  const { createCa, inspectCertificate, issueServing } = await import("@quartet/core/webhook");
  const ca = await createCa(clock.now());
  const leaf = await issueServing(ca, ["localhost", "127.0.0.1"], clock.now());
  const { notAfter } = inspectCertificate(leaf.cert);
  metrics.onCertificate(notAfter);
  return { pair: leaf, ca: ca.cert, notAfter: () => notAfter, untrusted: () => [], stop: () => {} };
}

async function register(
  { client, modules, settings, log }: WebhookOptions,
  port: number,
  { ca }: Certificates,
): Promise<() => Promise<void>> {
  const { registerWebhooks } = await import("./registration.ts");
  return registerWebhooks({
    client: client.forController("webhook"),
    log: log.named("webhook"),
    modules,
    flags: settings.moduleFlags,
    namespaces: settings.namespaces,
    name: webhookName(settings.release),
    url: `https://127.0.0.1:${port}`,
    caBundle: ca ?? "",
  });
}

/** Certificates that the replicas make themselves and share by a Secret. */
async function ownCertificates(
  options: WebhookOptions,
  metrics: WebhookMetrics,
  onPair: OnPair,
): Promise<Certificates> {
  const { settings, namespace, cache, clock } = options;
  if (namespace === undefined) {
    throw new ConfigurationError(
      "--webhook-cert-mode=self needs a namespace for its Secret: set --leader-election-namespace, or --webhook-port=-1",
    );
  }
  const { createCertificateManager, createCaInjection } = await import("@quartet/core/webhook");
  const log = options.log.named("webhook");
  const client = options.client.forController("webhook");
  const service = webhookName(settings.release);
  const manager = options.manager();
  const injection = createCaInjection({
    client: manager.client,
    cache,
    clock,
    log,
    configurations: [service],
    crds: options.modules.flatMap((module) => convertedCrds(module, settings.moduleFlags)),
    service: { namespace, name: service },
  });
  let current: CurrentCertificates | undefined;
  const certificates = createCertificateManager({
    client,
    cache,
    clock,
    log,
    events: manager.events("webhook", false),
    renews: manager.isLeader,
    isInjected: (ca) => injection.missing(ca).length === 0,
    secret: { namespace, name: webhookSecretName(settings.release) },
    ...options.lives,
    names: [
      service,
      `${service}.${namespace}`,
      `${service}.${namespace}.svc`,
      `${service}.${namespace}.svc.cluster.local`,
      ...(options.outside ? ["localhost", "127.0.0.1"] : []),
    ],
    onChange(next) {
      current = next;
      metrics.onCertificate(next.notAfter);
      injection.setBundle(next.caBundle);
      onPair(next);
    },
  });
  manager.add({
    name: "webhook",
    needLeaderElection: false,
    run: (signal) => certificates.run(signal),
  });
  manager.add({ name: "webhook-ca", run: injection.run });
  await certificates.start();
  return {
    pair: current!,
    notAfter: () => current?.notAfter ?? 0,
    untrusted: () => (current === undefined ? [] : injection.missing(current.issuer)),
    stop: injection.stop,
  };
}

/** Certificates in a folder that somebody else keeps current. */
async function fileCertificates(
  { settings, clock, log }: WebhookOptions,
  metrics: WebhookMetrics,
  onPair: OnPair,
): Promise<Certificates> {
  const folder = settings.webhook.certDir;
  if (folder === undefined) {
    const mode = settings.webhook.certMode;
    throw new ConfigurationError(
      `--webhook-cert-mode=${mode} needs --webhook-cert-dir: the folder of tls.crt and tls.key`,
    );
  }
  const { followServingPair, inspectCertificate, readServingPair } = await import("@quartet/core/webhook");
  let current = await readServingPair(folder, clock.now());
  const life = new AbortController();
  const take: OnPair = (next) => {
    current = next;
    metrics.onCertificate(inspectCertificate(next.cert).notAfter);
    onPair(next);
  };
  void followServingPair(
    { folder, clock, log: log.named("webhook"), onChange: take, onRead: metrics.onCertificateRead },
    life.signal,
  );
  return {
    pair: current,
    notAfter: () => inspectCertificate(current.cert).notAfter,
    // Whoever provides the files tells the API server of their CA.
    untrusted: () => [],
    stop: () => life.abort(),
  };
}
