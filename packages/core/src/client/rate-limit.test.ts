import { expect, it, vi } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { answer, CONFIG_MAP, LEASE, object, serve } from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };

it("CORE-112 sets no limit by default", async () => {
  const onRateLimited = vi.fn();
  const { server, client } = await serve((_, response) => answer(response, 200, object(CONFIG_MAP, "a")), {
    clock: fakeClock(),
    observer: { onRateLimited },
  });
  await Promise.all(Array.from({ length: 100 }, () => client.get(CONFIG_MAP, KEY)));
  expect(server.requests).toHaveLength(100);
  expect(onRateLimited).not.toHaveBeenCalled();
});

it("CORE-112 shares one token bucket among all controllers", async () => {
  const clock = fakeClock();
  const waited: number[] = [];
  const { server, client } = await serve((_, response) => answer(response, 200, object(CONFIG_MAP, "a")), {
    clock,
    qps: 2,
    burst: 3,
    observer: { onRateLimited: ({ seconds }) => void waited.push(seconds) },
  });
  const controllers = [client.forController("nacos"), client.forController("tars")];
  const gets = controllers.flatMap((controller) => [
    controller.get(CONFIG_MAP, KEY),
    controller.get(CONFIG_MAP, KEY),
    controller.get(CONFIG_MAP, KEY),
  ]);
  await Promise.all(gets.slice(0, 3));
  expect(server.requests).toHaveLength(3);
  await clock.advance(500);
  await gets[3];
  expect(server.requests).toHaveLength(4);
  await clock.advance(1_000);
  await Promise.all(gets);
  expect(waited).toEqual([0, 0, 0, 0.5, 1, 1.5]);
});

it("lets leases pass at once", async () => {
  const { client } = await serve((_, response) => answer(response, 200, object(LEASE, "l")), {
    clock: fakeClock(),
    qps: 1,
    burst: 1,
  });
  const lease = { namespace: "ns", name: "l" };
  await client.raw("GET", "/version");
  await expect(client.get(LEASE, lease)).resolves.toBeDefined();
});
