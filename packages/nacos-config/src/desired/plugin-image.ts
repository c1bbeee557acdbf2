/** Whether the image is likely to know PostgreSQL. */
import { databaseKind } from "./database.ts";
import { isAtLeast } from "./image.ts";
import { type Notice, warning } from "./notice.ts";
import type { Settings } from "./settings.ts";

/** First version whose official image talks to PostgreSQL by itself. */
const BUILT_IN_SINCE = [3, 2] as const;
/** The official image from whatever registry; tags that are more than a version are somebody's own builds. */
const OFFICIAL_IMAGE = /(^|\/)nacos\/nacos-server:v?\d+(\.\d+)+(-slim)?(@|$)/;
/** Properties that choose the database: the present one and the deprecated one. */
const PLATFORM_PROPERTIES = ["spring.sql.init.platform", "spring.datasource.platform"];

/**
 * Warns of an official image that needs a plugin for PostgreSQL. A guess: images can be changed without a new name.
 * @param properties effective properties of the merged configuration
 */
export function pluginNotice(
  { spec, image, version }: Settings,
  properties: ReadonlyMap<string, string>,
): Notice | undefined {
  const wanted =
    databaseKind(spec) === "postgresql" ||
    PLATFORM_PROPERTIES.some((name) => properties.get(name)?.trim().toLowerCase() === "postgresql");
  if (!wanted || version === undefined || isAtLeast(version, ...BUILT_IN_SINCE)) return undefined;
  if (!OFFICIAL_IMAGE.test(image)) return undefined;
  const note = `official images before ${BUILT_IN_SINCE.join(".")} do not know PostgreSQL: use an image with the datasource plugin's jar in plugins/`;
  return warning("PluginImageRequired", note);
}
