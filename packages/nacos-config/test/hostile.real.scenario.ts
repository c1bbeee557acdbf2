/** Resources that nobody expects, made from the schema of the definition. */
import { hostileKind, testHostileResources } from "@quartet/testing/hostile";
import { crdsOf } from "@quartet/testing/stage";
import { nacosModule } from "../src/index.ts";
import { objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage } from "./support/stage.ts";

const REAL = process.env.QUARTET_TARGET === "real";

testHostileResources({
  ids: "CORE-478 NACOS-1012",
  async open() {
    const stage = await openStage();
    const objects = objectsOf(stage);
    await objects.configMap("ic", { "internal.properties": "server.port=8848\n" });
    await objects.configMap("uc", { "user.properties": "a=1\n" });
    const manager = await stage.startManager(NO_CHECK);
    return { ...stage, log: manager.log };
  },
  kinds: crdsOf([nacosModule]).map((definition) => ({
    kind: hostileKind(definition),
    base: {
      spec: {
        type: "standalone",
        image: "nacos/nacos-server:v2.4.3",
        replicas: 1,
        internalConfigRef: { name: "ic" },
        userConfigRef: { name: "uc" },
      },
    },
  })),
  count: REAL ? 15 : 80,
});
