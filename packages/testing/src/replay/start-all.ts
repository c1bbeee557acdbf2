/** Several cases at a time. */

/** Cases that are played at a time, each in namespaces of its own: they wait far more than they compute. */
const PARALLEL = 8;

/** Starts the plays in the order of the rows, a few at a time; one result per row. `play` must not reject. */
export function startAll<Row, Result>(
  rows: readonly Row[],
  play: (row: Row) => Promise<Result>,
): Promise<Result>[] {
  const results = rows.map(() => Promise.withResolvers<Result>());
  const left = rows.entries();
  const work = async (): Promise<void> => {
    for (const [index, row] of left) results[index]!.resolve(await play(row));
  };
  for (let worker = 0; worker < PARALLEL; worker += 1) void work();
  return results.map(({ promise }) => promise);
}
