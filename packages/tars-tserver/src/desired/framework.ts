/** Settings of a framework, with what holds where it has none (tars.md 3.6). */
import type { DeepReadonly } from "@quartet/core";
import type { TFrameworkConfig } from "../api.gen.ts";
import type { NodeImage } from "./model.ts";

export interface FrameworkSettings {
  readonly nodeImage: NodeImage | undefined;
  /** Numbers of entries. */
  readonly exitedPods: number;
  readonly configHistory: number;
  readonly imageReleases: number;
  /** Seconds. */
  readonly maxBuildTime: number;
}

/** In a namespace without `tars-framework`. */
const FALLBACK = { exitedPods: 60, configHistory: 10, imageReleases: 32, maxBuildTime: 480 };

/** The settings of a namespace. */
export function frameworkSettings(config: DeepReadonly<TFrameworkConfig> | undefined): FrameworkSettings {
  const { texitedPod, tconfigHistory, timageRelease } = config?.recordLimit ?? {};
  const image = config?.nodeImage?.image;
  return {
    nodeImage: image ? { image, secret: config?.nodeImage.secret ?? "" } : undefined,
    exitedPods: texitedPod ?? FALLBACK.exitedPods,
    configHistory: tconfigHistory ?? FALLBACK.configHistory,
    imageReleases: timageRelease ?? FALLBACK.imageReleases,
    maxBuildTime: config?.imageBuild?.maxBuildTime ?? FALLBACK.maxBuildTime,
  };
}
