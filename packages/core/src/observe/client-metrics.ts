/** Metrics of requests to the API server, under client-go's names. */
import type { ClientObserver } from "../client/observer.ts";
import type { Metrics } from "./metrics.ts";

/** Seconds; the buckets of Kubernetes components (component-base, `restclient` metrics). */
const LATENCY_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** Bytes, 64 to 16 MiB; same source. */
const SIZE_BUCKETS = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Observer that keeps the `rest_client_*` metrics. Their label `verb` holds the HTTP method, as in client-go. */
export function clientMetrics(metrics: Metrics): ClientObserver {
  const requests = metrics.counter(
    "rest_client_requests_total",
    "Requests by status code, method and host.",
    ["code", "method", "host"],
  );
  const byVerb = ["verb", "host"] as const;
  const duration = metrics.histogram(
    "rest_client_request_duration_seconds",
    "Time until the answer, by method and host.",
    byVerb,
    LATENCY_BUCKETS,
  );
  const limited = metrics.histogram(
    "rest_client_rate_limiter_duration_seconds",
    "Time that requests waited for the client's own rate limit.",
    byVerb,
    LATENCY_BUCKETS,
  );
  const requestSize = metrics.histogram(
    "rest_client_request_size_bytes",
    "Size of request bodies.",
    byVerb,
    SIZE_BUCKETS,
  );
  const responseSize = metrics.histogram(
    "rest_client_response_size_bytes",
    "Size of answers, those of watches left out.",
    byVerb,
    SIZE_BUCKETS,
  );
  const retries = metrics.counter("rest_client_request_retries_total", "Repeats of requests.", [
    "code",
    "verb",
    "host",
  ]);
  const warnings = metrics.counter("rest_client_warnings_total", "Warnings that the API server sent.");

  return {
    onRequest({ code, method, host, verb, seconds, requestBytes, responseBytes }) {
      requests.inc({ code, method, host });
      const labels = { verb: method, host };
      duration.observe(labels, seconds);
      requestSize.observe(labels, requestBytes);
      if (verb !== "watch") responseSize.observe(labels, responseBytes);
    },
    onRetry: ({ code, method, host }) => retries.inc({ code, verb: method, host }),
    onRateLimited: ({ method, host, seconds }) => limited.observe({ verb: method, host }, seconds),
    onWarning: () => warnings.inc(),
  };
}
