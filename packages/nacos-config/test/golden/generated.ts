/** What revision 1 generates for a feature. */
import { settingsOf } from "../../src/desired/settings.ts";
import { newStatefulSet } from "../../src/desired/statefulset.ts";
import { NONE, nacos } from "../../src/fixtures.testkit.ts";
import { FEATURES } from "./features.ts";

/** Folder of the files, one for each feature. */
export const FOLDER: URL = new URL("revision-1/", import.meta.url);

export function fileOf(feature: string): URL {
  return new URL(`${feature}.json`, FOLDER);
}

/** The StatefulSet of a feature's resource: metadata of its pods, their spec, its claims and its strategy. */
export function generated(feature: string): unknown {
  const { spec, config = NONE } = FEATURES[feature]!;
  const resource = nacos(spec);
  return JSON.parse(JSON.stringify(newStatefulSet(settingsOf(resource), config).spec));
}
