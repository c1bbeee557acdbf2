import { describe, expect, it } from "vitest";
import { defineKind } from "../object.ts";
import { cacheMetrics } from "./cache-metrics.ts";
import { createMetrics } from "./metrics.ts";

const pods = defineKind({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
const labels = 'group="",version="v1",resource="pods"';

describe("metrics of the cache", () => {
  it("CORE-284 counts lists, watches, stalls and expired overlays", async () => {
    const metrics = createMetrics({ processMetrics: false });
    const observer = cacheMetrics(metrics);
    observer.list!(pods, "initial");
    observer.watch!(pods);
    observer.stall!(pods);
    observer.overlayExpired!(pods);
    observer.handlerError!(pods);
    const text = await metrics.render();
    expect(text).toContain(`quartet_reflector_lists_total{${labels},reason="initial"} 1`);
    expect(text).toContain(`quartet_reflector_watches_total{${labels}} 1`);
    expect(text).toContain(`quartet_reflector_stalls_total{${labels}} 1`);
    expect(text).toContain("quartet_cache_overlay_expired_total 1");
    expect(text).toContain(`quartet_cache_handler_errors_total{${labels}} 1`);
  });

  it("CORE-191 shows informers while they run: sums per kind, the worst contact, versions by scope", async () => {
    const metrics = createMetrics({ processMetrics: false });
    const observer = cacheMetrics(metrics);
    let objects = 3;
    const gauges = {
      kind: pods,
      objects: () => objects,
      setAside: () => 2,
      resourceVersion: () => 42,
      queuedItems: () => 1,
      secondsSinceContact: () => 7,
    };
    const stop = observer.informer!({ ...gauges, scope: "" });
    const stopOther = observer.informer!({ ...gauges, scope: "app=x", secondsSinceContact: () => 2 });
    objects = 5;
    const text = await metrics.render();
    expect(text).toContain(`quartet_cache_objects{${labels}} 10`);
    expect(text).toContain(`quartet_cache_objects_set_aside{${labels}} 4`);
    expect(text).toContain(`quartet_reflector_last_contact_seconds{${labels}} 7`);
    expect(text).toContain(`informer_store_resource_version{name="app=x",${labels}} 42`);
    expect(text).toContain(`informer_queued_items{name="",${labels}} 1`);
    expect(text).toContain(`quartet_reflector_stalls_total{${labels}} 0`);
    stop();
    stopOther();
    expect(await metrics.render()).not.toMatch(/^quartet_cache_objects\{/m);
  });
});
