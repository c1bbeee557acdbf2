/** A binary heap of items that know their own place in it, so that any of them can be removed or moved. */
export interface Heap<T> {
  readonly size: number;
  push(item: T): void;
  /** The first item, or `undefined`. */
  peek(): T | undefined;
  /** Removes an item; one that is not in the heap is left alone. */
  remove(item: T): void;
}

/**
 * @param before true when `a` comes before `b`
 * @param place where an item notes its index in this heap; -1 while it is not in it
 */
export function createHeap<T>(
  before: (a: T, b: T) => boolean,
  place: { get(item: T): number; set(item: T, index: number): void },
): Heap<T> {
  const items: T[] = [];
  const put = (item: T, index: number): void => {
    items[index] = item;
    place.set(item, index);
  };
  const up = (start: number): void => {
    const item = items[start]!;
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(item, items[parent]!)) break;
      put(items[parent]!, index);
      index = parent;
    }
    put(item, index);
  };
  const down = (start: number): void => {
    const item = items[start]!;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child += 1;
      if (!before(items[child]!, item)) break;
      put(items[child]!, index);
      index = child;
    }
    put(item, index);
  };
  const remove = (item: T): void => {
    const index = place.get(item);
    if (index < 0) return;
    place.set(item, -1);
    const last = items.pop()!;
    if (index === items.length) return;
    put(last, index);
    up(index);
    down(place.get(last));
  };
  return {
    get size() {
      return items.length;
    },
    push(item) {
      items.push(item);
      up(items.length - 1);
    },
    peek: () => items[0],
    remove,
  };
}
