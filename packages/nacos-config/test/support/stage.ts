/** The stage of a scenario with the Nacos controller and simulated Nacos servers. */
import { createNacosCluster, followPods, type NacosCluster } from "@quartet/testing";
import {
  type Stage as CommonStage,
  openStage as openCommonStage,
  type StartOptions,
  type TestManager,
} from "@quartet/testing/stage";
import { createNacosModule, type NacosModuleOptions, nacosModule } from "../../src/index.ts";

/** Options of a controller for which ready pods are enough. */
export const NO_CHECK = { flags: { "nacos-skip-node-check": true } } as const;

/** Databases of tests are on the machine itself, where no real one is. */
const LOCAL_DATABASES = { "nacos-postgres-hosts": "127.0.0.0/8" } as const;

export interface Stage extends CommonStage {
  /** Starts the controller, by default on this namespace alone; what is started ends with the stage. */
  startManager(options?: Omit<StartOptions, "modules"> & NacosModuleOptions): Promise<TestManager>;
  /** A simulated Nacos server at the address of each pod of an installation. */
  nacosFor(name: string, options?: Parameters<typeof createNacosCluster>[0]): NacosCluster;
}

/** Opens the stage of the target that the test run is for. */
export async function openStage(): Promise<Stage> {
  const stage = await openCommonStage({ modules: [nacosModule] });
  const { client, namespace } = stage;
  return {
    ...stage,
    startManager: ({ baseUrl, flags, ...options } = {}) =>
      stage.start({
        ...options,
        flags: { ...LOCAL_DATABASES, ...flags },
        modules: [createNacosModule(baseUrl ? { baseUrl } : {})],
      }),
    nacosFor(name, options) {
      const nacos = createNacosCluster(options);
      stage.onClose(() => nacos.close());
      stage.onClose(followPods(nacos, client, { namespace, name }));
      return nacos;
    },
  };
}
