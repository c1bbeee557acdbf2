/** Objects of which only a part is kept in memory: reducing caches make them, writes of whole objects refuse them. */

/** A symbol: it survives spreading and is never sent. */
const PROJECTED: unique symbol = Symbol("quartet.projected");

/**
 * True for an object whose cached form lacks fields that the server holds, and for copies of it. Sending it back by
 * `update` would delete those fields; patches are safe.
 */
export function isProjected(object: object): boolean {
  return (object as { [PROJECTED]?: boolean })[PROJECTED] === true;
}

/** Marks an object that lacks more than `managedFields`. */
export function markProjected<T extends object>(object: T): T {
  (object as { [PROJECTED]?: boolean })[PROJECTED] = true;
  return object;
}
