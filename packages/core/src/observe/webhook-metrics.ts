/** Metrics of the webhook server, under controller-runtime's names. */
import type { WebhookObserver } from "../webhook/server.ts";
import type { Metrics } from "./metrics.ts";

/** Seconds; ten to the power of -8 … 3, as controller-runtime has them. */
const LATENCY_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1_000];

/** Path of conversion webhooks, whose panics are counted apart. */
const CONVERT_PATH = "/convert";

/** Observer of webhook calls, and what the holder of the certificates reports. */
export interface WebhookMetrics extends WebhookObserver {
  /** A certificate was read from files. */
  onCertificateRead(ok: boolean): void;
  /** End of the serving certificate, milliseconds since the Unix epoch. */
  onCertificate(notAfter: number): void;
}

/** Keeps `controller_runtime_webhook_*`, `certwatcher_*` and `quartet_webhook_cert_expiry_seconds`. */
export function webhookMetrics(metrics: Metrics, paths: readonly string[]): WebhookMetrics {
  const requests = metrics.counter(
    "controller_runtime_webhook_requests_total",
    "Calls by path and HTTP code.",
    ["webhook", "code"],
  );
  const inFlight = metrics.gauge("controller_runtime_webhook_requests_in_flight", "Calls being answered.", [
    "webhook",
  ]);
  const latency = metrics.histogram(
    "controller_runtime_webhook_latency_seconds",
    "Time to answer a call.",
    ["webhook"],
    LATENCY_BUCKETS,
  );
  const panics = metrics.counter(
    "controller_runtime_webhook_panics_total",
    "Handlers that failed or ran out of time.",
  );
  const conversionPanics = metrics.counter(
    "controller_runtime_conversion_webhook_panics_total",
    "Conversions that failed unexpectedly.",
  );
  const reads = metrics.counter("certwatcher_read_certificate_total", "Reads of the serving certificate.");
  const readErrors = metrics.counter(
    "certwatcher_read_certificate_errors_total",
    "Failed reads of the serving certificate.",
  );
  const expiry = metrics.gauge(
    "quartet_webhook_cert_expiry_seconds",
    "End of the serving certificate, seconds since the Unix epoch.",
  );
  for (const webhook of paths) {
    for (const code of ["200", "500"]) requests.inc({ webhook, code }, 0);
    inFlight.set({ webhook }, 0);
  }
  return {
    onStart: (webhook) => inFlight.inc({ webhook }),
    onEnd(webhook, code, seconds) {
      inFlight.dec({ webhook });
      requests.inc({ webhook, code: String(code) });
      latency.observe({ webhook }, seconds);
    },
    onPanic: (webhook) => (webhook === CONVERT_PATH ? conversionPanics : panics).inc(),
    onCertificateRead(ok) {
      reads.inc();
      if (!ok) readErrors.inc();
    },
    onCertificate: (notAfter) => expiry.set(notAfter / 1_000),
  };
}
