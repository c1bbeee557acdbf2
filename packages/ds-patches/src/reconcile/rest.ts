/** How long passes over many nodes rest (DSP-1051). */

/**
 * Least time from the end of a pass to the next one for each node, milliseconds: while a thousand pods come up, each of
 * their events would start a pass over all of them. So passes take a tenth of the time, however many nodes there are.
 */
const REST_MS_PER_NODE = 0.1;
/** Over fewer nodes a pass costs so little that none is put off. */
const MANY_NODES = 200;

/** Milliseconds from the end of a pass over so many nodes until the next may begin. */
export function restAfter(nodes: number): number {
  return nodes < MANY_NODES ? 0 : nodes * REST_MS_PER_NODE;
}
