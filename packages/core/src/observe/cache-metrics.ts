/** Metrics of informers and reflectors. */
import type { CacheObserver, InformerGauges } from "../cache/observer.ts";
import type { Kind } from "../object.ts";
import type { Metrics } from "./metrics.ts";

const KIND_LABELS = ["group", "version", "resource"] as const;

interface KindLabels {
  group: string;
  version: string;
  resource: string;
}

/** Observer that keeps `informer_*`, `quartet_cache_*` and `quartet_reflector_*`. */
export function cacheMetrics(metrics: Metrics): CacheObserver {
  const lists = metrics.counter("quartet_reflector_lists_total", "Reads of whole collections, by reason.", [
    ...KIND_LABELS,
    "reason",
  ]);
  const watches = metrics.counter("quartet_reflector_watches_total", "Watches opened.", KIND_LABELS);
  const stalls = metrics.counter(
    "quartet_reflector_stalls_total",
    "Watches that fell silent although the server had sent bookmarks.",
    KIND_LABELS,
  );
  const expired = metrics.counter(
    "quartet_cache_overlay_expired_total",
    "Own writes that did not come back through the watch in time.",
  );
  const handlerErrors = metrics.counter(
    "quartet_cache_handler_errors_total",
    "Event handlers that threw.",
    KIND_LABELS,
  );
  const informers = informerGauges(metrics);
  return {
    list: (kind, reason) => lists.inc({ ...labelsOf(kind), reason }),
    watch: (kind) => watches.inc(labelsOf(kind)),
    stall: (kind) => stalls.inc(labelsOf(kind)),
    overlayExpired: () => expired.inc(),
    handlerError: (kind) => handlerErrors.inc(labelsOf(kind)),
    informer(gauges) {
      // So that a kind that never stalled shows 0 instead of nothing.
      watches.inc(labelsOf(gauges.kind), 0);
      stalls.inc(labelsOf(gauges.kind), 0);
      return informers(gauges);
    },
  };
}

/** Keeps the gauges of running informers; the function takes one in and returns the way to take it out. */
function informerGauges(metrics: Metrics): (gauges: InformerGauges) => () => void {
  const named = ["name", ...KIND_LABELS] as const;
  const version = metrics.gauge(
    "informer_store_resource_version",
    "Last 15 digits of the resource version that an informer stands at.",
    named,
  );
  const queued = metrics.gauge(
    "informer_queued_items",
    "Events that handlers have not been told yet.",
    named,
  );
  const objects = metrics.gauge("quartet_cache_objects", "Objects held in memory.", KIND_LABELS);
  const aside = metrics.gauge(
    "quartet_cache_objects_set_aside",
    "Objects that the cache could not take in; the log and `quartet explain` name them.",
    KIND_LABELS,
  );
  const contact = metrics.gauge(
    "quartet_reflector_last_contact_seconds",
    "Seconds since the last byte from the server.",
    KIND_LABELS,
  );
  const running = new Set<InformerGauges>();
  metrics.onCollect(() => {
    for (const gauge of [version, queued, objects, aside, contact]) gauge.reset();
    const worst = new Map<string, number>();
    const newest = new Map<string, number>();
    for (const informer of running) {
      const labels = labelsOf(informer.kind);
      // Informers of one kind with selectors of one form share their series.
      const named = { name: informer.scope, ...labels };
      const form = JSON.stringify(named);
      newest.set(form, Math.max(newest.get(form) ?? 0, informer.resourceVersion()));
      version.set(named, newest.get(form)!);
      queued.inc(named, informer.queuedItems());
      objects.inc(labels, informer.objects());
      aside.inc(labels, informer.setAside());
      const key = JSON.stringify(labels);
      worst.set(key, Math.max(worst.get(key) ?? 0, informer.secondsSinceContact()));
      contact.set(labels, worst.get(key)!);
    }
  });
  return (gauges) => {
    running.add(gauges);
    return () => void running.delete(gauges);
  };
}

const labelsOf = ({ group, version, plural }: Kind): KindLabels => ({ group, version, resource: plural });
