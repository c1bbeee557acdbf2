/** Rules of a bucket as the API takes them (TUN-942). */
import type { R2Bucket } from "../api.gen.ts";
import type { Cached } from "../kinds.ts";

const DAY_SECONDS = 86_400;

type Spec = NonNullable<Cached<R2Bucket>["spec"]>;
type LifecycleRule = NonNullable<Spec["lifecycle"]>[number];

/** Name of the bucket. */
export function bucketName({ spec, metadata }: Cached<R2Bucket>): string {
  return spec?.name || (metadata.name ?? "");
}

/** What is wrong with the rules, with its remedy, or nothing. */
export function bucketProblem(object: Cached<R2Bucket>): string | undefined {
  const name = bucketName(object);
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name))
    return `the name of the object, ${name}, is no name of a bucket (3 to 63 of a-z, 0-9 and -); set spec.name`;
  const { lifecycle = [] } = object.spec ?? {};
  const ids = new Set<string>();
  for (const [index, rule] of lifecycle.entries()) {
    const place = `spec.lifecycle[${index}]`;
    const id = idOf(rule, index);
    if (ids.has(id)) return `${place}.id: ${id} is the name of another rule; choose another`;
    ids.add(id);
    const { expiration, abortIncompleteMultipartUpload } = rule;
    if (expiration?.days !== undefined && expiration.date !== undefined)
      return `${place}.expiration: days and date exclude each other; remove one`;
    const acts = expiration?.days !== undefined || expiration?.date !== undefined;
    if (!acts && abortIncompleteMultipartUpload === undefined)
      return `${place}: does nothing; set expiration.days, expiration.date or abortIncompleteMultipartUpload`;
    if (expiration?.date !== undefined && timeOf(expiration.date) === undefined)
      return `${place}.expiration.date: ${expiration.date} is no day, such as 2026-12-31`;
  }
  return undefined;
}

/** Rules for requests of other origins. */
export function corsRules({ cors = [] }: Spec): object[] {
  return cors.map(({ id, allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders, maxAgeSeconds }) => ({
    ...(id !== undefined && { id }),
    allowed: {
      origins: allowedOrigins,
      methods: allowedMethods,
      ...(allowedHeaders !== undefined && { headers: allowedHeaders }),
    },
    ...(exposeHeaders !== undefined && { exposeHeaders }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  }));
}

/** Rules by which objects go. */
export function lifecycleRules({ lifecycle = [] }: Spec): object[] {
  return lifecycle.map((rule, index) => {
    const { enabled = true, prefix = "", expiration, abortIncompleteMultipartUpload } = rule;
    const { days, date } = expiration ?? {};
    const age = (after: number): object => ({ condition: { type: "Age", maxAge: after * DAY_SECONDS } });
    return {
      id: idOf(rule, index),
      enabled,
      conditions: { prefix },
      ...(days !== undefined && { deleteObjectsTransition: age(days) }),
      ...(date !== undefined && {
        deleteObjectsTransition: { condition: { type: "Date", date: timeOf(date) } },
      }),
      ...(abortIncompleteMultipartUpload !== undefined && {
        abortMultipartUploadsTransition: age(abortIncompleteMultipartUpload.daysAfterInitiation),
      }),
    };
  });
}

function idOf({ id }: LifecycleRule, index: number): string {
  return id || `rule-${index + 1}`;
}

/** Midnight in UTC of a day, in the form of the API. */
function timeOf(date: string): string | undefined {
  const value = /^\d{4}-\d{2}-\d{2}/.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(value) ? undefined : `${new Date(value).toISOString().slice(0, 10)}T00:00:00Z`;
}
