/** Whether cloudflared takes a configuration. */
import { holdsPort, isCatchAll } from "./hostname.ts";
import { checkAccess, checkOriginRequest, optionOf } from "./origin-request.ts";
import { IngressError } from "./problems.ts";
import { compilePath, PathPatternError } from "./regexp.ts";
import { checkService } from "./service.ts";
import type { ConfigForm, IngressConfig, IngressRule } from "./types.ts";

/** Throws {@link IngressError} with the first objection, in the order in which cloudflared looks. */
export function validateIngress(config: IngressConfig, form: ConfigForm = "remote"): void {
  const rules = config.ingress ?? [];
  rules.forEach((rule, index) => {
    checkTypes(rule, form, index);
  });
  checkOriginRequest(config.originRequest, form);
  if (rules.length === 0) {
    throw new IngressError("no-rules", "The config file doesn't contain any ingress rules");
  }
  const bastion = optionOf(config.originRequest, "bastionMode") === true;
  rules.forEach((rule, index) => {
    checkService(textOf(rule.service), rule.originRequest, bastion, index);
    checkAccess(rule.originRequest, index);
    checkHostname(rule, index, rules.length);
    checkPath(textOf(rule.path), index);
  });
}

/** Text of a member that may be missing. */
export function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

function checkTypes(rule: IngressRule, form: ConfigForm, index: number): void {
  if (typeof rule !== "object" || rule === null || Array.isArray(rule)) {
    throw new IngressError("malformed", `rule #${index + 1} is no object`, index);
  }
  for (const field of ["hostname", "path", "service"] as const) {
    const value = rule[field];
    const scalar = typeof value === "number" || typeof value === "boolean";
    if (value === undefined || value === null || typeof value === "string" || (scalar && form === "file"))
      continue;
    throw new IngressError("malformed", `rule #${index + 1}: ${field} is no text`, index);
  }
  checkOriginRequest(rule.originRequest, form, index);
}

function checkHostname(rule: IngressRule, index: number, count: number): void {
  const [hostname, path] = [textOf(rule.hostname), textOf(rule.path)];
  if (holdsPort(hostname)) throw new IngressError("hostname", "Hostname cannot contain a port", index);
  if (hostname.lastIndexOf("*") > 0) {
    const message =
      'Hostname patterns can have at most one wildcard character ("*") and it can only be used for subdomains, ' +
      'e.g. "*.example.com"';
    throw new IngressError("hostname", message, index);
  }
  const last = index === count - 1;
  if (last === isCatchAll(hostname, path)) return;
  const message = last
    ? "The last ingress rule must match all URLs (i.e. it should not have a hostname or path filter)"
    : `Rule #${index + 1} is matching the hostname '${hostname}', but this will match every hostname, meaning the ` +
      "rules which follow it will never be triggered.";
  throw new IngressError("catch-all", message, index);
}

function checkPath(pattern: string, index: number): void {
  if (pattern === "") return;
  try {
    compilePath(pattern);
  } catch (error) {
    if (!(error instanceof PathPatternError)) throw error;
    throw new IngressError("path", `Rule #${index + 1} has an invalid regex: ${error.message}`, index);
  }
}
