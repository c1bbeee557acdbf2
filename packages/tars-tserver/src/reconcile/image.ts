/** Ends builds that take too long, and bounds the list of releases. */
import { type Clock, type DeepReadonly, keyOf, mutable, type Reconcile } from "@quartet/core";
import type { TImage } from "../api.gen.ts";
import { frameworkSettings } from "../desired/framework.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_IMAGE } from "../kinds.ts";
import { APP_LABEL, SERVER_LABEL } from "../labels.ts";
import type { Lookups } from "../sources.ts";

const MS_PER_SECOND = 1_000;
/** Longest delay of a timer, ms: a limit further away is looked at again, by the clock as it then is. */
const LONGEST_DELAY_MS = 60_000;

export interface ImageParts {
  readonly lookups: (signal: AbortSignal) => Promise<Lookups>;
  readonly clock: Clock;
}

/** The reconcile of images. */
export function createImageReconcile({ lookups, clock }: ImageParts): Reconcile {
  return async (key, { client, cache, signal, events }) => {
    const image = await cache.get(T_IMAGE, key);
    if (image === undefined || image.metadata.deletionTimestamp !== undefined) return;
    const known = await lookups(signal);
    const settings = frameworkSettings(known.framework(key.namespace));
    const { build, wait } = endedBuild(image, settings.maxBuildTime * MS_PER_SECOND, clock.now());
    const { [APP_LABEL]: app, [SERVER_LABEL]: server } = image.metadata.labels ?? {};
    const servers = app === undefined ? [] : known.serversOfApp(key.namespace, app);
    const used = servers
      .filter(({ spec }) => spec.server === server)
      .flatMap(({ spec }) => spec.release?.id ?? []);
    const { kept, dropped } = boundedReleases(image, settings.imageReleases, new Set(used));
    if (build !== undefined || dropped.length > 0) {
      const { resourceVersion } = image.metadata;
      const body = {
        metadata: { resourceVersion },
        ...(build && { build }),
        ...(dropped.length > 0 && { releases: kept }),
      };
      await client.patch(
        T_IMAGE,
        keyOf(image),
        { type: "merge", body },
        { signal, fieldManager: FIELD_MANAGER },
      );
    }
    if (dropped.length > 0) {
      const note = `releases beyond the limit of ${settings.imageReleases} are dropped: ${dropped.join(", ")}`;
      events.record(image, { type: "Normal", reason: "ReleasesDropped", note, distinct: note });
    }
    return wait === undefined ? undefined : { requeueAfter: Math.min(wait, LONGEST_DELAY_MS), exact: true };
  };
}

/** The builds after one that took too long, or the time until it does, ms. */
function endedBuild(
  image: DeepReadonly<TImage>,
  limitMs: number,
  now: number,
): { build?: object; wait?: number } {
  const running = image.build?.running;
  if (running === undefined) return {};
  const begun = Date.parse(running.createTime ?? image.metadata.creationTimestamp ?? "");
  if (Number.isNaN(begun)) return {};
  const wait = begun + limitMs - now;
  if (wait > 0) return { wait };
  return { build: { last: { ...running, phase: "Failed", message: "task overtime" }, running: null } };
}

/** The newest releases; the default one and those in use stay in any case. */
function boundedReleases(
  image: DeepReadonly<TImage>,
  limit: number,
  used: ReadonlySet<string>,
): { kept: object[]; dropped: string[] } {
  const releases = mutable(image).releases ?? [];
  const dropped = releases
    .slice(limit)
    .map(({ id }) => id)
    .filter((id) => id !== image.default && !used.has(id));
  const gone = new Set(dropped);
  return { kept: releases.filter(({ id }) => !gone.has(id)), dropped };
}
