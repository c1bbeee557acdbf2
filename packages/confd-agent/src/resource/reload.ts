/** How a service is told that its file is another one: by a command, an HTTP request, or a signal. */
import { constants } from "node:os";
import { reloadCommand } from "../run/command-text.ts";

export type Reload =
  | { readonly kind: "command"; readonly text: string }
  | { readonly kind: "http"; readonly text: string; readonly method: string; readonly url: string }
  | {
      readonly kind: "signal";
      readonly text: string;
      /** Name of a process, or absolute path of a file with the number of one. */
      readonly target: string;
      readonly signal: NodeJS.Signals;
    };

export interface ReloadFields {
  readonly command: string;
  readonly http: string;
  readonly signal: string;
  readonly dest: string;
}

/** Understands the fields, of which at most one is given; without any there is no reload. */
export function parseReload(
  { command, http, signal, dest }: ReloadFields,
  fail: (problem: string) => never,
): Reload | undefined {
  if ([command, http, signal].filter((text) => text !== "").length > 1)
    fail("reload_cmd, reload_http and reload_signal: give one of them");
  if (command !== "") return { kind: "command", text: reloadCommand(command, dest) };
  if (http !== "") return parseHttp(http, fail);
  return signal === "" ? undefined : parseSignal(signal, fail);
}

function parseHttp(text: string, fail: (problem: string) => never): Reload {
  const [, method = "POST", address = ""] = /^(?:([A-Z]+) +)?(\S+)$/.exec(text) ?? [];
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    // With a password in it, it is not told either.
    const shown = text.includes("@") ? "it" : JSON.stringify(text);
    return fail(`reload_http: ${shown} is no request: use "POST http://host:port/path"`);
  }
  // They would be told with every failure.
  if (url.username !== "" || url.password !== "")
    fail("reload_http: a password cannot be part of the address");
  return { kind: "http", text: `${method} ${url.href}`, method, url: url.href };
}

function parseSignal(text: string, fail: (problem: string) => never): Reload {
  const [, target = "", name = ""] = /^(.+):(?:SIG)?([A-Z0-9]+)$/.exec(text) ?? [];
  const signal = `SIG${name}`;
  const isPath = target.startsWith("/");
  if (!(signal in constants.signals) || target === "" || (!isPath && target.includes("/"))) {
    return fail(
      `reload_signal: ${JSON.stringify(text)} is no signal of a process: use "nginx:HUP" or "/run/nginx.pid:HUP"`,
    );
  }
  return { kind: "signal", text: `${target}:${name}`, target, signal: signal as NodeJS.Signals };
}
