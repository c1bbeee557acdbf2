/** The process's metrics registry, passed by hand: there is no global one. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/**
 * Registry with helpers that return an existing metric of the same name instead of failing, so that several
 * controllers can share a family.
 */
export interface Metrics {
  readonly registry: Registry;
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  gauge<L extends string>(name: string, help: string, labels?: readonly L[]): Gauge<L>;
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>;
  /** Runs `fn` before every {@link Metrics.render}, to set gauges that follow something. Returns the way to undo it. */
  onCollect(fn: () => void): () => void;
  /** All metrics in the text format 0.0.4. */
  render(): Promise<string>;
}

export interface MetricsOptions {
  /** Metrics of the process and of Node (`process_*`, `nodejs_*`). Default true. */
  processMetrics?: boolean;
}

/** Opens a registry. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const families = new Map<string, { shape: string; metric: unknown }>();
  const collectors = new Set<() => void>();
  if (options.processMetrics !== false) collectDefaultMetrics({ register: registry });

  const family = <M>(type: string, name: string, labels: readonly string[], create: () => M): M => {
    const shape = `${type} {${labels.join(", ")}}`;
    const existing = families.get(name);
    if (existing === undefined) {
      const metric = create();
      families.set(name, { shape, metric });
      return metric;
    }
    if (existing.shape !== shape) {
      throw new Error(`metric ${name} exists as ${existing.shape}, not as ${shape}: use another name`);
    }
    return existing.metric as M;
  };

  return {
    registry,
    counter: (name, help, labels = []) =>
      family(
        "counter",
        name,
        labels,
        () => new Counter({ name, help, labelNames: labels, registers: [registry] }),
      ),
    gauge: (name, help, labels = []) =>
      family(
        "gauge",
        name,
        labels,
        () => new Gauge({ name, help, labelNames: labels, registers: [registry] }),
      ),
    histogram: (name, help, labels, buckets) =>
      family(
        "histogram",
        name,
        labels,
        () => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [registry] }),
      ),
    onCollect(fn) {
      collectors.add(fn);
      return () => void collectors.delete(fn);
    },
    async render() {
      for (const fn of collectors) fn();
      return registry.metrics();
    },
  };
}
