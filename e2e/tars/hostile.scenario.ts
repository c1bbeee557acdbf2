/** Resources that nobody expects, made from the schemas of the definitions; without webhooks, which would refuse most. */

import { tarsModule } from "@quartet/tars-tserver";
import { hostileKind, testHostileResources } from "@quartet/testing/hostile";
import { crdsOf, openStage } from "@quartet/testing/stage";

const REAL = process.env.QUARTET_TARGET === "real";

/** Sound resources by kind. */
const BASES: Readonly<Record<string, object>> = {
  TServer: {
    spec: {
      app: "Demo",
      server: "EchoServer",
      subType: "tars",
      tars: { template: "tars.cpp", servants: [{ name: "EchoObj", port: 10_000 }] },
      k8s: { replicas: 1 },
      release: { id: "v1", image: "registry.example/tars/demo.echoserver:v1" },
    },
  },
  TConfig: { app: "Demo", server: "EchoServer", configName: "echo.conf", configContent: "level=1\n" },
};
/** Kinds without a status. */
const TOLD: ReadonlySet<string> = new Set(["TServer"]);

testHostileResources({
  ids: "CORE-478 tars",
  async open() {
    const stage = await openStage({ modules: [tarsModule] });
    const manager = await stage.start();
    return { ...stage, log: manager.log };
  },
  kinds: crdsOf([tarsModule]).map((definition) => {
    const kind = hostileKind(definition);
    const base = BASES[kind.kind];
    return { kind, ...(base && { base: { ...base } }), silent: !TOLD.has(kind.kind) };
  }),
  count: REAL ? 4 : 20,
});
