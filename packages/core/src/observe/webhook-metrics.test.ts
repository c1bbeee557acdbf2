import { describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

describe("metrics of webhooks", () => {
  it("CORE-284 has codes 200 and 500 of every path at the start", async () => {
    const metrics = createMetrics({ processMetrics: false });
    webhookMetrics(metrics, ["/validate"]);
    const text = await metrics.render();
    expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/validate",code="200"} 0');
    expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/validate",code="500"} 0');
    expect(text).toContain('controller_runtime_webhook_requests_in_flight{webhook="/validate"} 0');
    expect(text).toContain("controller_runtime_webhook_panics_total 0");
    expect(text).toContain("controller_runtime_conversion_webhook_panics_total 0");
    expect(text).toContain("certwatcher_read_certificate_total 0");
    expect(text).toContain("certwatcher_read_certificate_errors_total 0");
  });

  it("CORE-284 follows calls, panics and certificates", async () => {
    const metrics = createMetrics({ processMetrics: false });
    const observer = webhookMetrics(metrics, ["/v"]);
    observer.onStart("/v");
    observer.onStart("/v");
    observer.onEnd("/v", 500, 0.5);
    observer.onPanic("/v");
    observer.onPanic("/convert");
    observer.onCertificateRead(true);
    observer.onCertificateRead(false);
    observer.onCertificate(1_700_000_000_000);
    const text = await metrics.render();
    expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/v",code="500"} 1');
    expect(text).toContain('controller_runtime_webhook_requests_in_flight{webhook="/v"} 1');
    expect(text).toContain('controller_runtime_webhook_latency_seconds_bucket{le="1",webhook="/v"} 1');
    expect(text).toContain('controller_runtime_webhook_latency_seconds_bucket{le="0.1",webhook="/v"} 0');
    expect(text).toContain("controller_runtime_webhook_panics_total 1");
    expect(text).toContain("controller_runtime_conversion_webhook_panics_total 1");
    expect(text).toContain("certwatcher_read_certificate_total 2");
    expect(text).toContain("certwatcher_read_certificate_errors_total 1");
    expect(text).toContain("quartet_webhook_cert_expiry_seconds 1700000000");
    expect(text.match(/^controller_runtime_webhook_latency_seconds_bucket/gm)).toHaveLength(13);
  });
});
