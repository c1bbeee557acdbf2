/** The definitions of the Gateway API that tests and the demo install; users bring their own. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { CustomResourceDefinition } from "../control-plane/index.ts";

/** Version of the files; their folder says where they are from. */
const GATEWAY_API_VERSION = "v1.4.1";
const PLURALS = ["gatewayclasses", "gateways", "httproutes", "referencegrants"];

/** Definitions of the kinds that a tunnel serves, of the standard channel. */
export function gatewayCrds(): CustomResourceDefinition[] {
  return PLURALS.map((plural) => {
    const file = new URL(`${GATEWAY_API_VERSION}/gateway.networking.k8s.io_${plural}.yaml`, import.meta.url);
    return parse(readFileSync(file, "utf8")) as CustomResourceDefinition;
  });
}
