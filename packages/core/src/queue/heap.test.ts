import fc from "fast-check";
import { expect, it } from "vitest";
import { createHeap } from "./heap.ts";

interface Item {
  value: number;
  place: number;
}

it("keeps the first item at the top, whatever is pushed and removed", () => {
  const step = fc.oneof(
    fc.record({ op: fc.constant("push" as const), value: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ op: fc.constant("remove" as const), index: fc.nat(60) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100, size: "max" }), (steps) => {
      const heap = createHeap<Item>((a, b) => a.value < b.value, {
        get: (item) => item.place,
        set: (item, index) => {
          item.place = index;
        },
      });
      const all: Item[] = [];
      for (const one of steps) {
        if (one.op === "push") {
          const item = { value: one.value, place: -1 };
          all.push(item);
          heap.push(item);
        } else if (all.length > 0) {
          const [item] = all.splice(one.index % all.length, 1);
          heap.remove(item!);
          heap.remove(item!);
          expect(item!.place).toBe(-1);
        }
        expect(heap.size).toBe(all.length);
        expect(heap.peek()?.value ?? Number.POSITIVE_INFINITY).toBe(
          Math.min(...all.map(({ value }) => value), Number.POSITIVE_INFINITY),
        );
      }
    }),
  );
});
