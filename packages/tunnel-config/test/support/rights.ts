/** Takes a right from the manager while it runs. */
import type { Loose, TunnelStage } from "./stage.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** The server learns of changed roles by watches of its own, in milliseconds. */
const EFFECT_MS = 1500;

/** Takes a verb on resources, such as `virtualnetworks/status`, out of all roles of the stage; the result gives it back. */
export async function withhold(
  { client, namespace }: TunnelStage,
  verb: string,
  resources: readonly string[],
): Promise<() => Promise<void>> {
  const lists = [`${RBAC}/clusterroles`, `${RBAC}/namespaces/${namespace}/roles`];
  const before: { path: string; rules: Loose[] }[] = [];
  for (const list of lists) {
    const { items } = await client.ok<{ items: Loose[] }>("GET", list);
    for (const { metadata, rules } of items) {
      const holds = (rules ?? []).some((rule: Loose) => isAbout(rule, resources));
      if (metadata.name.includes(namespace) && holds)
        before.push({ path: `${list}/${metadata.name}`, rules });
    }
  }
  if (before.length === 0) throw new Error(`no role of the stage names ${resources.join(", ")}`);
  const write = async (path: string, rules: Loose[]): Promise<void> => {
    const contentType = "application/merge-patch+json";
    await client.ok("PATCH", path, { rules }, { contentType });
  };
  for (const { path, rules } of before)
    await write(
      path,
      rules.flatMap((rule) => without(rule, verb, resources)),
    );
  await new Promise((resolve) => setTimeout(resolve, EFFECT_MS));
  return async () => {
    for (const { path, rules } of before) await write(path, rules);
  };
}

function isAbout(rule: Loose, resources: readonly string[]): boolean {
  return (rule.resources ?? []).some((one: string) => resources.includes(one));
}

function without(rule: Loose, verb: string, resources: readonly string[]): Loose[] {
  if (!isAbout(rule, resources)) return [rule];
  const others = rule.resources.filter((one: string) => !resources.includes(one));
  const concerned = rule.resources.filter((one: string) => resources.includes(one));
  const less = rule.verbs.filter((one: string) => one !== verb);
  return [
    ...(others.length > 0 ? [{ ...rule, resources: others }] : []),
    ...(less.length > 0 ? [{ ...rule, resources: concerned, verbs: less }] : []),
  ];
}
