/** Resources that nobody expects, made from the schema of the definition. */
import { hostileKind, testHostileResources } from "@quartet/testing/hostile";
import { crdsOf, openStage } from "@quartet/testing/stage";
import { dsPatchesModule } from "../src/index.ts";
import { createNodes } from "./support/daemon-sets.ts";

const REAL = process.env.QUARTET_TARGET === "real";
const CONTAINER = {
  name: "main",
  image: "registry.k8s.io/pause:3.10",
  env: [{ name: "CACHE_SIZE", value: "500Gi" }],
};
/** Nodes of other tests come and go: a DaemonSet on them writes what it must. */
const OWN_NODE = { "example.com/hostile": "yes" };

testHostileResources({
  ids: "CORE-478 ds-patches",
  async open() {
    const stage = await openStage({ modules: [dsPatchesModule] });
    const nodes = await createNodes(stage);
    await nodes.add({ name: "n1", labels: OWN_NODE });
    const manager = await stage.start();
    return { ...stage, log: manager.log };
  },
  kinds: crdsOf([dsPatchesModule]).map((definition) => ({
    kind: hostileKind(definition),
    base: {
      spec: {
        selector: { matchLabels: { app: "agent" } },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        patches: [
          {
            selector: { matchLabels: { "example.com/storage": "large" } },
            patch: { spec: { containers: [{ name: "main", env: [{ name: "CACHE_SIZE", value: "2Ti" }] }] } },
          },
        ],
        template: {
          metadata: { labels: { app: "agent" } },
          spec: { nodeSelector: OWN_NODE, containers: [CONTAINER] },
        },
      },
    },
  })),
  count: REAL ? 12 : 60,
});
