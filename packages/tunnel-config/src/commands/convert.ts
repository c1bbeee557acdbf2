/** `quartet tunnel convert`: TunnelBindings as Ingresses or HTTPRoutes (TUN-1017). */
import { parseArgs } from "node:util";
import type { OfflineCommand } from "@quartet/core";
import { type ConvertOptions, convertBindings } from "../migration/convert.ts";
import { migratedText } from "../migration/manifests.ts";
import { callOf, oneFile, readManifests } from "./file-command.ts";

const USAGE =
  "quartet tunnel convert FILE|- [--class=cloudflare] [--domain=example.com] [--to=httproute --gateway=[NAMESPACE/]NAME]";

/** The command. */
export const CONVERT: OfflineCommand = {
  words: "tunnel convert",
  help: "FILE|- [--class=NAME] [--domain=NAME] [--to=httproute --gateway=[NAMESPACE/]NAME]: prints TunnelBindings as Ingresses or HTTPRoutes, and what could not be carried over; Services and tunnels in FILE tell ports and domains; needs no cluster",
  async text(args) {
    const { file, options } = callOf(USAGE, () => {
      const text = { type: "string" } as const;
      const known = { class: text, domain: text, to: text, gateway: text };
      const { values, positionals } = parseArgs({ args: [...args], options: known, allowPositionals: true });
      return { file: oneFile(positionals), options: optionsOf(values) };
    });
    return migratedText(convertBindings(await readManifests(file), options));
  },
};

function optionsOf(values: {
  readonly class?: string;
  readonly domain?: string;
  readonly to?: string;
  readonly gateway?: string;
}): ConvertOptions {
  const { class: className = "cloudflare", domain = "", to = "ingress", gateway = "" } = values;
  if (to === "ingress") return { to, className, domain };
  if (to !== "httproute") throw new Error(`--to: ${JSON.stringify(to)} is neither ingress nor httproute`);
  const [name = "", namespace = "", ...more] = gateway.split("/").reverse();
  if (name === "" || more.length > 0) throw new Error("--gateway=[NAMESPACE/]NAME is needed for HTTPRoutes");
  return { to, gateway: { namespace, name }, domain };
}
