import { describe, expect, it } from "vitest";
import { ApiError } from "../cloudflare/errors.ts";
import type { Aggregate } from "../desired/aggregate.ts";
import type { Source, Sources } from "../desired/document.ts";
import { holdBack, nextTry, transmitSources } from "./quarantine.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function source(name: string, service = "http://web:80"): Source {
  return { kind: "Ingress", namespace: "a", name, rules: [{ hostname: `${name}.example.com`, service }] };
}

const sources = (...list: Source[]): Sources =>
  Object.fromEntries(list.map((one) => [`Ingress/a/${one.name}`, one]));

/** An API that refuses whatever names one of the services. */
function api(...bad: string[]) {
  const bodies: string[][] = [];
  const send = async ({ config }: Aggregate): Promise<number> => {
    const services = config.ingress.map((rule) => rule.service);
    bodies.push(services);
    if (services.some((service) => bad.includes(service)))
      throw new ApiError({ status: 400, codes: [1056], message: "rule is not valid", call: "PUT" });
    return bodies.length;
  };
  return { bodies, send };
}

const run = (wanted: Sources, accepted: Sources, send: (desired: Aggregate) => Promise<number>) =>
  transmitSources({ wanted, accepted, held: undefined, now: NOW, send });

describe("TUN-630 quarantine", () => {
  it("sends everything at once as long as the API takes it", async () => {
    const { bodies, send } = api();
    const sent = await run(sources(source("a"), source("b")), {}, send);
    expect([bodies.length, sent.rejected, sent.version]).toEqual([1, [], 1]);
  });

  it("leaves out the one that is refused, and keeps what was accepted of it", async () => {
    const { send } = api("http://bad:80");
    const accepted = sources(source("a"), source("b"));
    const wanted = sources(source("a", "http://new:80"), source("b", "http://bad:80"), source("c"));
    const sent = await run(wanted, accepted, send);
    expect(sent.desired.config.ingress.map(({ service }) => service)).toEqual([
      "http://new:80",
      "http://web:80",
      "http://web:80",
      "http_status:404",
    ]);
    expect(sent.rejected).toMatchObject([{ source: "Ingress/a/b", reason: "rule is not valid" }]);
    expect(nextTry(sent.rejected, NOW)).toBe(3_600_000);
  });

  it("finds one among many in ten calls, or tries the rest later", async () => {
    const { bodies, send } = api("http://bad:80");
    const many = Array.from({ length: 100 }, (_, index) =>
      source(`i${index}`, index === 70 ? "http://bad:80" : undefined),
    );
    const sent = await run(sources(...many), {}, send);
    expect(bodies.length).toBeLessThanOrEqual(11);
    expect(sent.desired.config.ingress.length).toBeGreaterThan(50);
    expect(JSON.stringify(sent.desired.config)).not.toContain("bad");
    // What could not be tried is not held back as long as what was refused.
    expect(sent.rejected.length).toBeGreaterThan(1);
    expect(nextTry(sent.rejected, NOW)).toBe(60_000);
    const again = holdBack(sources(...many), sent.sources, sent.rejected, NOW + 60_000);
    expect(Object.keys(again.sources).length).toBeGreaterThan(Object.keys(sent.sources).length);
    expect(again.rejected.filter(({ reason }) => reason.startsWith("not transmitted yet"))).toEqual([]);
  });

  it("is an error of the whole when nothing has changed, or the API fails otherwise", async () => {
    const { send } = api("http://web:80");
    const same = sources(source("a"));
    await expect(run(same, same, send)).rejects.toThrow("rule is not valid");
    const down = new ApiError({ status: 500, codes: [], message: "down", call: "PUT" });
    await expect(run(same, {}, () => Promise.reject(down))).rejects.toThrow("down");
  });

  it("holds back what was refused until it changes, or an hour has passed", async () => {
    const { send } = api("http://bad:80");
    const wanted = sources(source("a"), source("b", "http://bad:80"));
    const { rejected, sources: accepted } = await run(wanted, {}, send);
    const held = holdBack(wanted, accepted, rejected, NOW + 1000);
    expect([Object.keys(held.sources), held.rejected]).toEqual([["Ingress/a/a"], rejected]);
    const mended = sources(source("a"), source("b", "http://good:80"));
    expect(holdBack(mended, accepted, rejected, NOW + 1000)).toEqual({ sources: mended, rejected: [] });
    expect(holdBack(wanted, accepted, rejected, NOW + 3_600_000).rejected).toEqual([]);
  });
});
