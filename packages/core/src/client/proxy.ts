/** HTTP proxies: which one to use, and the CONNECT tunnel through it. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { BlockList, isIP, type Socket } from "node:net";
import { ConfigurationError } from "./errors.ts";

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Proxy for a server: the kubeconfig's `proxy-url`, else `HTTPS_PROXY` unless `NO_PROXY` or a loopback address
 * speaks against it. Throws `ConfigurationError` for proxies that are not HTTP(S).
 */
export function proxyFor(server: URL, configured: string | undefined, env: Environment): URL | undefined {
  if (configured !== undefined && configured !== "") return parseProxy(configured, "proxy-url");
  if (server.protocol !== "https:") return undefined;
  const fromEnv = env.HTTPS_PROXY || env.https_proxy;
  if (!fromEnv || isLoopback(server.hostname)) return undefined;
  if (excluded(server, env.NO_PROXY || env.no_proxy || "")) return undefined;
  return parseProxy(fromEnv, "HTTPS_PROXY");
}

/** True for `localhost` and loopback addresses; `[::1]` may be bracketed. */
export function isLoopback(hostname: string): boolean {
  const host = unbracketed(hostname);
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function parseProxy(text: string, origin: string): URL {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null) throw new ConfigurationError(`${origin}: not a URL; use http://host:port`);
  if (url.protocol.startsWith("socks")) {
    throw new ConfigurationError(`${origin}: socks proxy not supported; use an http or https proxy`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ConfigurationError(`${origin}: ${url.protocol}// proxies are not supported; use http or https`);
  }
  return url;
}

/** `NO_PROXY`: `*`, host names with their subdomains, `.domain`, addresses and CIDR ranges, each with optional port. */
function excluded(server: URL, noProxy: string): boolean {
  const host = unbracketed(server.hostname);
  const port = server.port || "443";
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => entry === "*" || matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry.includes("/")) return inRange(entry, host);
  const withPort = /^(.*[^:]):(\d+)$/.exec(entry);
  if (withPort !== null && isIP(entry) === 0 && withPort[2] !== port) return false;
  const name = unbracketed(withPort !== null && isIP(entry) === 0 ? (withPort[1] ?? "") : entry);
  const suffix = name.replace(/^\*?\./, "");
  const wholeDomain = name === suffix;
  return (wholeDomain && host === suffix) || (isIP(suffix) === 0 && host.endsWith(`.${suffix}`));
}

function inRange(entry: string, host: string): boolean {
  const [address = "", bits = ""] = entry.split("/");
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits)) return false;
  const type = family === 6 ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(address, Math.min(Number(bits), family === 6 ? 128 : 32), type);
  return list.check(host, type);
}

function unbracketed(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

/** Opens a tunnel to the server through the proxy. Rejects with the proxy's refusal or the signal's reason. */
export function openTunnel(proxy: URL, server: URL, signal: AbortSignal): Promise<Socket> {
  const authority = `${server.hostname}:${server.port || (server.protocol === "https:" ? "443" : "80")}`;
  const send = proxy.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send({
      host: unbracketed(proxy.hostname),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      agent: false,
    });
    const onAbort = (): void => {
      request.destroy();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    request.once("connect", (response, socket, head) => {
      signal.removeEventListener("abort", onAbort);
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket as Socket);
      }
      socket.destroy();
      reject(refusal(proxy, authority, response.statusCode ?? 0));
    });
    request.once("response", (response) => {
      request.destroy();
      reject(refusal(proxy, authority, response.statusCode ?? 0));
    });
    request.once("error", reject);
    request.end();
  });
}

function refusal(proxy: URL, authority: string, code: number): Error {
  return Object.assign(new Error(`proxy ${proxy.host} refused CONNECT to ${authority} with ${code}`), {
    code: "EPROXY",
  });
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
