/** Comparing resource versions: officially allowed since Kubernetes 1.35, and true of every etcd-backed server before. */

const COMPARABLE = /^[1-9][0-9]*$/;
/** Digits that a double holds exactly; client-go exports as many in `informer_store_resource_version`. */
const GAUGE_DIGITS = 15;

/** True for a version that can be ordered: decimal digits without a leading zero. */
export function isComparable(version: string | undefined): version is string {
  return version !== undefined && COMPARABLE.test(version);
}

/** Negative when `a` is older than `b`, 0 when equal, positive when newer; `undefined` when they cannot be ordered. */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (!isComparable(a) || !isComparable(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The later of two versions; `next` when they cannot be ordered. */
export function laterVersion(current: string | undefined, next: string): string {
  const order = compareVersions(current, next);
  return current !== undefined && order !== undefined && order > 0 ? current : next;
}

/** Number for a gauge: the last 15 digits; 0 for none or for a version that is no number. */
export function versionGauge(version: string | undefined): number {
  return isComparable(version) ? Number(version.slice(-GAUGE_DIGITS)) : 0;
}
