/** What the package watches, and the indexes by which it is looked up. */
import type {
  DeepReadonly,
  Informer,
  InformerOptions,
  Kind,
  KubeObject,
  Projection,
  Sources,
} from "@quartet/core";
import { LEASE, type Lease } from "@quartet/core/kinds";
import { familyKey, itemKey } from "./admission/config.ts";
import type { TConfig, TFrameworkConfig, TImage, TServer, TTemplate, TTree } from "./api.gen.ts";
import type { Pod } from "./desired/k8s.ts";
import { T_CONFIG, T_FRAMEWORK_CONFIG, T_IMAGE, T_SERVER, T_TEMPLATE, T_TREE } from "./kinds.ts";
import { APP_LABEL, FRAMEWORK_NAME, SERVER_LABEL, TREE_NAME } from "./labels.ts";
import { PEER_LEASES, PEER_NAMESPACE } from "./reconcile/peer.ts";

/** Texts of up to 1.5 MB each, which nothing here reads. */
export const CONFIG_OPTIONS: InformerOptions<TConfig> = {
  projection: without<TConfig>("tars-config", (config) => {
    const { configContent: _content, ...rest } = config;
    return rest as TConfig;
  }),
};
export const TEMPLATE_OPTIONS: InformerOptions<TTemplate> = {
  projection: without<TTemplate>("tars-template", (template) => {
    return { ...template, spec: { parent: template.spec?.parent ?? "" } as TTemplate["spec"] };
  }),
};

/** Pods and claims that belong to a server. */
export const OWN_SELECTOR: string = `${APP_LABEL},${SERVER_LABEL}`;
export const POD_OPTIONS: InformerOptions<Pod> = {
  labelSelector: OWN_SELECTOR,
  projection: without<Pod>("tars-pod", ({ apiVersion, kind, metadata, status }) => {
    const { podIP, hostIP, conditions, containerStatuses } = status ?? {};
    return {
      apiVersion,
      kind,
      metadata: { ...metadata, annotations: {}, managedFields: [] },
      status: {
        ...(podIP !== undefined && { podIP }),
        ...(hostIP !== undefined && { hostIP }),
        ...(conditions && { conditions }),
        ...(containerStatuses && { containerStatuses }),
      },
    };
  }),
};

function without<T extends KubeObject>(name: string, transform: (object: T) => T): Projection<T> {
  return { name, transform };
}

const INDEX = {
  app: "tars-app",
  family: "tars-family",
  item: "tars-item",
  parent: "tars-parent",
  server: "tars-server",
  template: "tars-template",
};

const scoped = (namespace: string | undefined, ...parts: readonly string[]): string =>
  [namespace ?? "", ...parts].join("/");

/** Look-ups in the cache; each of them is within one namespace. */
export interface Lookups {
  server(namespace: string, name: string): DeepReadonly<TServer> | undefined;
  serversOf(namespace: string): readonly DeepReadonly<TServer>[];
  serversOfApp(namespace: string, app: string): readonly DeepReadonly<TServer>[];
  serversWithTemplate(namespace: string, template: string): readonly DeepReadonly<TServer>[];
  template(namespace: string, name: string): DeepReadonly<TTemplate> | undefined;
  /** Templates that name this one as their parent. */
  childrenOf(namespace: string, template: string): readonly DeepReadonly<TTemplate>[];
  /** All versions of one item of configuration. */
  item(namespace: string, key: string): readonly DeepReadonly<TConfig>[];
  /** The items of a master and its slaves. */
  family(namespace: string, key: string): readonly DeepReadonly<TConfig>[];
  /** Images with the labels of a server. */
  images(namespace: string, app: string, server: string): readonly DeepReadonly<TImage>[];
  framework(namespace: string): DeepReadonly<TFrameworkConfig> | undefined;
  tree(namespace: string): DeepReadonly<TTree> | undefined;
  /** The peer's Leases, where they can be seen; `undefined` as long as that is not known. */
  peerLeases(): readonly DeepReadonly<Lease>[] | undefined;
  /** Resolves when all of them can be asked. A kind that is not there, or that may not be read, has no objects. */
  synced(signal: AbortSignal): Promise<void>;
  release(): void;
}

/** Opens the informers and adds the indexes. */
export function openLookups(sources: Sources, namespaces: readonly string[]): Lookups {
  const informers: Informer[] = [];
  const open = <T extends KubeObject>(kind: Kind<T>, options: InformerOptions<T> = {}): Informer<T> => {
    const informer = sources.open(kind, { ...options, optional: true });
    informers.push(informer as unknown as Informer);
    return informer;
  };
  const servers = open(T_SERVER);
  const configs = open(T_CONFIG, CONFIG_OPTIONS);
  const templates = open(T_TEMPLATE, TEMPLATE_OPTIONS);
  const images = open(T_IMAGE);
  const frameworks = open(T_FRAMEWORK_CONFIG);
  const trees = open(T_TREE);
  const seesPeer = namespaces.length === 0 || namespaces.includes(PEER_NAMESPACE);
  const leases = (seesPeer ? PEER_LEASES : []).map((name) =>
    open(LEASE, { namespaces: [PEER_NAMESPACE], fieldSelector: `metadata.name=${name}` }),
  );
  servers.addIndex(INDEX.app, ({ metadata, spec }) => [scoped(metadata.namespace, spec.app)]);
  servers.addIndex(INDEX.template, ({ metadata, spec }) =>
    spec.tars === undefined ? [] : [scoped(metadata.namespace, spec.tars.template)],
  );
  configs.addIndex(INDEX.item, (config) => [scoped(config.metadata.namespace, itemKey(config))]);
  configs.addIndex(INDEX.family, (config) => [scoped(config.metadata.namespace, familyKey(config))]);
  // By the spec: the label is missing on objects of older installations.
  templates.addIndex(INDEX.parent, ({ metadata, spec }) =>
    spec.parent === metadata.name ? [] : [scoped(metadata.namespace, spec.parent)],
  );
  images.addIndex(INDEX.server, ({ metadata: { namespace, labels } }) => {
    const { [APP_LABEL]: app, [SERVER_LABEL]: server } = labels ?? {};
    return app === undefined || server === undefined ? [] : [scoped(namespace, app, server)];
  });
  return {
    server: (namespace, name) => servers.get({ namespace, name }),
    serversOf: (namespace) => servers.list({ namespace }),
    serversOfApp: (namespace, app) => servers.byIndex(INDEX.app, scoped(namespace, app)),
    serversWithTemplate: (namespace, name) => servers.byIndex(INDEX.template, scoped(namespace, name)),
    template: (namespace, name) => templates.get({ namespace, name }),
    childrenOf: (namespace, name) => templates.byIndex(INDEX.parent, scoped(namespace, name)),
    item: (namespace, key) => configs.byIndex(INDEX.item, scoped(namespace, key)),
    family: (namespace, key) => configs.byIndex(INDEX.family, scoped(namespace, key)),
    images: (namespace, app, server) => images.byIndex(INDEX.server, scoped(namespace, app, server)),
    framework: (namespace) => frameworks.get({ namespace, name: FRAMEWORK_NAME }),
    tree: (namespace) => trees.get({ namespace, name: TREE_NAME }),
    peerLeases: () =>
      leases.some(({ state }) => state === "starting")
        ? undefined
        : leases.flatMap((informer) => informer.list()),
    async synced(signal) {
      await Promise.all(informers.map((informer) => settled(informer, signal)));
    },
    release() {
      for (const informer of informers) sources.close(informer);
    },
  };
}

/** Resolves when an informer has its objects, or knows that it gets none for now. */
function settled(informer: Informer, signal: AbortSignal): Promise<void> {
  if (informer.state !== "starting") return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = (): void => {
      forget();
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(signal.reason);
    };
    const forget = informer.onState((state) => {
      if (state === "starting") return;
      end();
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
