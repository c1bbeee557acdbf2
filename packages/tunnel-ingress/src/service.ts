/** The service of a rule. */
import { GoUrlError, parseGoUrl } from "./go-url.ts";
import { checkIpRules, optionOf } from "./origin-request.ts";
import { IngressError } from "./problems.ts";

/** HTTP statuses that Go's server can write. */
const STATUS = { least: 100, most: 999 } as const;

const HELLO_WORLD = new Set(["hello_world", "hello-world", "helloworld"]);

/** Throws when cloudflared does not take the service. `bastion` says whether the defaults switch bastion mode on. */
export function checkService(service: string, originRequest: unknown, bastion: boolean, rule: number): void {
  if (service.startsWith("unix:") || service.startsWith("unix+tls:")) return;
  if (service.startsWith("http_status:")) checkStatus(service.slice("http_status:".length), rule);
  else if (service === "socks-proxy") checkIpRules(originRequest, rule);
  else if (!HELLO_WORLD.has(service) && !isBastion(service, originRequest, bastion))
    checkAddress(service, rule);
}

function isBastion(service: string, originRequest: unknown, fallback: boolean): boolean {
  const own = optionOf(originRequest, "bastionMode");
  return service === "bastion" || (typeof own === "boolean" ? own : fallback);
}

function checkStatus(text: string, rule: number): void {
  if (!/^[+-]?\d+$/.test(text)) {
    const message = `invalid HTTP status code: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
    throw new IngressError("service", message, rule);
  }
  const status = Number(text);
  if (status >= STATUS.least && status <= STATUS.most) return;
  throw new IngressError("service", `invalid HTTP status code: ${text}`, rule);
}

function checkAddress(service: string, rule: number): void {
  const refuse = (message: string): never => {
    throw new IngressError("service", message, rule);
  };
  const url = parse(service, refuse);
  if (url.scheme === "" || url.hostname === "") {
    refuse(`${service} is an invalid address, please make sure it has a scheme and a hostname`);
  }
  if (url.path !== "") {
    refuse(
      `${service} is an invalid address, ingress rules don't support proxying to a different path on the origin ` +
        "service. The path will be the same as the eyeball request's path",
    );
  }
}

function parse(service: string, refuse: (message: string) => never): ReturnType<typeof parseGoUrl> {
  try {
    return parseGoUrl(service);
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    return refuse(`parse ${JSON.stringify(service)}: ${error.message}`);
  }
}
