/** Paths to nodes of a JSON value, written as Kubernetes writes them: `spec.containers[0].env`, `metadata.labels[a/b]`. */

const PLAIN_KEY = /^[A-Za-z0-9_$][\w$/-]*$/;

/** The path of a key of the map at `path`. */
export function memberPath(path: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The path of an item of the list at `path`. */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}
