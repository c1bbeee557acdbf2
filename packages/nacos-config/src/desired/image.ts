/** What an image's name tells about the Nacos version in it. */

export interface ImageVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?![\d.])/;

/** Version in the image's tag; `undefined` for tags such as `latest` and for images named by digest alone. */
export function imageVersion(image: string): ImageVersion | undefined {
  const name = image.split("@", 1)[0]!;
  const tag = name.slice(name.lastIndexOf("/") + 1).split(":")[1];
  return tag === undefined ? undefined : parseVersion(tag);
}

/** Version in a text such as `v2.4.3` or `3.0.1-slim`. */
export function parseVersion(text: string): ImageVersion | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3] ?? 0) };
}

/** True when `version` is known and not older than `major.minor.patch`. */
export function isAtLeast(version: ImageVersion | undefined, major: number, minor = 0, patch = 0): boolean {
  if (version === undefined) return false;
  const difference = version.major - major || version.minor - minor || version.patch - patch;
  return difference >= 0;
}
