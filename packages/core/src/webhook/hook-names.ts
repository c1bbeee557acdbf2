/** Names and paths of webhooks, from what they are about. */
import type { Webhook } from "./types.ts";

const VERBS = { validating: "validate", mutating: "mutate" } as const;
/** In place of the empty group of core kinds: a webhook's name has three parts at least. */
const CORE_GROUP = "core.quartet.io";

/** `validate.echo.test.quartet.io`, or `validate.echo-scale.test.quartet.io` for its subresource. */
export function hookName({ name, type, kind, subresource }: Webhook): string {
  return name ?? `${VERBS[type]}.${subject(kind.kind, subresource)}.${kind.group || CORE_GROUP}`;
}

/** `/validate-test-quartet-io-v1-echo`: the form of kubebuilder's. */
export function hookPath({ path, type, kind, subresource }: Webhook): string {
  const group = kind.group.replaceAll(".", "-");
  return path ?? `/${[VERBS[type], group, kind.version, subject(kind.kind, subresource)].join("-")}`;
}

function subject(kind: string, subresource: string | undefined): string {
  const name = kind.toLowerCase();
  return subresource === undefined ? name : `${name}-${subresource}`;
}
