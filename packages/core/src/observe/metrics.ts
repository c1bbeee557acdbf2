/** The process's metrics registry, passed by hand: there is no global one. */
import type { Counter, Gauge, Histogram, Registry } from "prom-client";

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
}
