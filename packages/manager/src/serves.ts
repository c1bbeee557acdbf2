/** `quartet serves`: which rule of a tunnel serves a URL, by the tunnel's ConfigMap, without a cluster (TUN-638). */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ConfigurationError, messageOf } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { type Serving, servingOf } from "@quartet/tunnel-config";
import { parse } from "yaml";

const USAGE = "quartet serves --config FILE URL…";

/** A paragraph for each URL. */
export async function servesText(args: readonly string[]): Promise<string> {
  const { config, urls } = callOf(args);
  const text = await readFile(config === "-" ? "/dev/stdin" : config, "utf8").catch((error: unknown) => {
    throw new ConfigurationError(`--config: cannot read ${config}: ${messageOf(error)}`);
  });
  try {
    const found = servingOf((parse(text) ?? {}) as ConfigObject, urls);
    return found.map((serving, index) => paragraph(urls[index]!, serving)).join("\n");
  } catch (error) {
    throw new ConfigurationError(`${config}: ${messageOf(error)}`);
  }
}

function callOf(args: readonly string[]): { config: string; urls: URL[] } {
  try {
    const options = { config: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.config === undefined) throw new Error("--config is needed");
    if (positionals.length === 0) throw new Error("a URL is needed");
    return { config: values.config, urls: positionals.map(urlOf) };
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\nusage: ${USAGE}`);
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === "")
    throw new Error(`${JSON.stringify(text)} is no URL such as https://a.example.com/x`);
  return url;
}

function paragraph(url: URL, serving: Serving): string {
  const { rule, place, rules, source, conflict, rejected, held, lastError } = serving;
  const { hostname = "every host", path = "every path", service } = rule;
  const lines = [
    url.href,
    `  ${service}`,
    place === rules
      ? "  the fallback: no rule fits"
      : `  rule ${place} of ${rules}: ${hostname}, ${path}${source === undefined ? "" : `; asked for by ${source}`}`,
    ...(held === undefined ? [] : [`  ${held}`]),
    ...(conflict?.losers ?? []).map((loser) => `  also asked for by ${loser}, which comes after it`),
    ...rejected.map(
      (one) =>
        `  left out: ${[`${one.hostname}${one.path}`, one.source].filter(Boolean).join(" of ")}: ${one.reason}`,
    ),
    ...(lastError === undefined ? [] : [`  a later change could not be sent: ${lastError}`]),
  ];
  return lines.map((line) => `${line}\n`).join("");
}
