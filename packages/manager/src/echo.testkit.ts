/** A small controller for tests of the program: for each Echo it applies a ConfigMap with its text. */
import {
  allow,
  type ControllerModule,
  defineKind,
  type FlagValues,
  type Kind,
  type KubeObject,
  type Manager,
  reads,
} from "@quartet/core";
import { CONFIG_MAP } from "@quartet/core/kinds";
import type { TestClient } from "@quartet/testing";

export interface Echo extends KubeObject {
  spec: { text: string };
}

export const ECHO: Kind<Echo> = defineKind<Echo>({
  group: "test.quartet.io",
  version: "v1",
  kind: "Echo",
  plural: "echoes",
  namespaced: true,
});

/** The module; `onBuild` sees the manager and the module's flags. */
export function echoModule(
  onBuild?: (manager: Manager, flags: FlagValues) => void,
  name = "echo",
): ControllerModule {
  return {
    name,
    aliases: [`${name}-config`],
    kinds: [ECHO],
    crds: [],
    rights: [reads(ECHO), allow(CONFIG_MAP, ["get", "list", "watch", "patch"])],
    flags: [{ name: `${name}-resync`, type: "duration", default: "30s", help: "pause between two looks" }],
    build(manager, flags) {
      onBuild?.(manager, flags);
      manager.add(
        manager
          .controller(name)
          .for(ECHO)
          .owns(CONFIG_MAP)
          .complete(async ({ namespace, name: echo }, ctx) => {
            const found = await ctx.cache.get(ECHO, { namespace, name: echo });
            if (found === undefined) return;
            await ctx.client.applyOwned(CONFIG_MAP, {
              apiVersion: "v1",
              kind: "ConfigMap",
              metadata: { name: `${echo}-out`, namespace },
              data: { text: found.spec.text },
            });
          }),
      );
    },
  };
}

/** Installs the CRD of Echo, if it is not there, and waits until it is served. */
export async function installEcho(client: TestClient): Promise<void> {
  await client.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "echoes.test.quartet.io" },
    spec: {
      group: "test.quartet.io",
      scope: "Namespaced",
      names: { kind: "Echo", plural: "echoes", singular: "echo", listKind: "EchoList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: { type: "object", properties: { text: { type: "string" } } } },
            },
          },
        },
      ],
    },
  });
  for (let tries = 0; tries < 200; tries++) {
    const answer = await client.request("GET", "/apis/test.quartet.io/v1/echoes");
    if (answer.code === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the CRD of Echo is not served");
}
