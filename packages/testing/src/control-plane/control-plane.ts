/** Starts a real control plane on loopback: etcd, API server, controller manager, scheduler and kwok. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testClient } from "../request.ts";
import { type Assets, ensureAssets } from "./assets.ts";
import { attachControlPlane, type ControlPlane, type ControlPlaneHandle } from "./attach.ts";
import { type AuditOptions, auditPolicy } from "./audit-log.ts";
import {
  COMPONENTS,
  type ComponentName,
  type ComponentSettings,
  componentArguments,
  DEFAULT_POD_CIDR,
  type Ports,
  workFiles,
} from "./components.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { type CertificateAuthority, writePki } from "./pki.ts";
import { type PortAllocator, portAllocator } from "./ports.ts";
import type { Environment } from "./programs.ts";
import { type Probes, waitForComponent, waitForDefaults } from "./readiness.ts";
import { kwokConfig } from "./stages.ts";
import { type Supervisor, startSupervisor } from "./supervisor-client.ts";

export interface ControlPlaneOptions {
  /**
   * Range of pod addresses. Default `10.1.0.0/16`. With `127.1.0.0/16` each pod has a loopback address on which a test
   * server can listen; the API server refuses EndpointSlices of such pods, so none are made then.
   */
  podCidr?: string;
  /** Default true. Without it no ServiceAccount admission, no garbage collection, no workload controllers. */
  controllerManager?: boolean;
  /** Default true. */
  scheduler?: boolean;
  /** Default true: nodes and pods come alive by the project's own stages. A text replaces kwok's configuration. */
  kwok?: boolean | { config: string };
  /** Default: metadata of every request. `false`: no audit log, so `requests` throws. */
  auditPolicy?: AuditOptions | false;
  /** For the API server, for example `{WatchList: false}`. */
  featureGates?: Readonly<Record<string, boolean>>;
  /** True: API server and scheduler limit no requests, and nodes have no leases. Default false. */
  benchmark?: boolean;
  /** An empty or missing folder with a short path. Default a new one in the system's temporary folder. */
  workDir?: string;
  /** Further arguments, for example `--listen-metrics-urls=…`. */
  etcdArgs?: readonly string[];
  /** Further arguments, for example `--watch-cache=false`. */
  apiserverArgs?: readonly string[];
  /** After the harness's own; the last one of a name holds. */
  schedulerArgs?: readonly string[];
  /** Where programs are looked for. Default `process.env`. */
  env?: Environment;
  /** Receives a line per step when programs have to be built. */
  onProgress?: (line: string) => void;
}

/** Identities of the components: user and groups of their client certificates. */
const IDENTITIES: Partial<Record<ComponentName, readonly [user: string, groups: readonly string[]]>> = {
  "kube-controller-manager": ["system:kube-controller-manager", []],
  "kube-scheduler": ["system:kube-scheduler", []],
  kwok: ["quartet-kwok", ["system:masters"]],
};

/**
 * Starts a control plane and resolves when it is ready: API server ready, namespace `default` there, with the
 * controller manager also its ServiceAccount. It ends with `stop()`, and in any case with this process. When the start
 * fails, the work folder with all logs is kept and named in the error.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const components = wantedComponents(options);
  const assets = await ensureAssets({
    env: options.env ?? process.env,
    need: components,
    ...(options.onProgress && { onProgress: options.onProgress }),
  });
  const workDir = options.workDir ?? mkdtempSync(join(tmpdir(), "quartet-"));
  mkdirSync(workDir, { recursive: true, mode: 0o700 });
  const allocator = portAllocator();
  let supervisor: Supervisor | undefined;
  const stop = async (): Promise<void> => {
    await supervisor?.shutdown();
    allocator.releaseAll();
  };
  try {
    const settings = await settingsOf(options, workDir, allocator);
    const authority = await writeFiles(options, settings);
    supervisor = await startSupervisor(workDir);
    const handle = await launch(components, settings, { assets, authority, supervisor });
    writeFileSync(workFiles(workDir).handle, JSON.stringify(handle), { mode: 0o600 });
    return { ...attachControlPlane(handle, { auditFrom: "start" }), stop };
  } catch (error) {
    await supervisor?.keep();
    await stop();
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`control plane did not start, its logs are in ${workDir}: ${message}`, { cause: error });
  }
}

/** The components that the options ask for, in start order. */
function wantedComponents(options: ControlPlaneOptions): ComponentName[] {
  const wanted: Record<ComponentName, boolean> = {
    etcd: true,
    "kube-apiserver": true,
    "kube-controller-manager": options.controllerManager ?? true,
    "kube-scheduler": options.scheduler ?? true,
    kwok: options.kwok !== false,
  };
  return COMPONENTS.filter((name) => wanted[name]);
}

async function settingsOf(
  options: ControlPlaneOptions,
  workDir: string,
  allocator: PortAllocator,
): Promise<ComponentSettings> {
  const ports: Ports = {
    etcdClient: await allocator.allocate(),
    etcdPeer: await allocator.allocate(),
    apiserver: await allocator.allocate(),
    controllerManager: await allocator.allocate(),
    scheduler: await allocator.allocate(),
    kwok: await allocator.allocate(),
  };
  return {
    workDir,
    ports,
    controllerManager: options.controllerManager ?? true,
    podCidr: options.podCidr ?? DEFAULT_POD_CIDR,
    audit: options.auditPolicy !== false,
    featureGates: options.featureGates ?? {},
    benchmark: options.benchmark ?? false,
    etcdArgs: options.etcdArgs ?? [],
    apiserverArgs: options.apiserverArgs ?? [],
    schedulerArgs: options.schedulerArgs ?? [],
  };
}

/** Certificates, kubeconfigs and configuration files. */
async function writeFiles(
  options: ControlPlaneOptions,
  settings: ComponentSettings,
): Promise<CertificateAuthority> {
  const files = workFiles(settings.workDir);
  const authority = await writePki(files.pki);
  const write = (file: string, text: string): void => writeFileSync(file, text, { mode: 0o600 });
  const server = `https://127.0.0.1:${settings.ports.apiserver}`;
  for (const [component, [user, groups]] of Object.entries(IDENTITIES)) {
    const credentials = await authority.client(user, groups);
    write(files.kubeconfig(component), kubeconfigText(server, authority.cert, user, credentials));
  }
  const token = crypto.randomUUID();
  write(files.tokens, `${token},quartet-token-admin,quartet-token-admin,"system:masters"\n`);
  if (options.auditPolicy !== false) write(files.auditPolicy, auditPolicy(options.auditPolicy));
  write(files.kwokConfig, typeof options.kwok === "object" ? options.kwok.config : kwokConfig());
  return authority;
}

interface LaunchTools {
  assets: Assets;
  authority: CertificateAuthority;
  supervisor: Supervisor;
}

/** Starts the components together, since each waits for those it needs, and resolves when all are ready. */
async function launch(
  components: readonly ComponentName[],
  settings: ComponentSettings,
  { assets, authority, supervisor }: LaunchTools,
): Promise<ControlPlaneHandle> {
  const { workDir, ports } = settings;
  const files = workFiles(workDir);
  for (const name of components) {
    const args = componentArguments(name, settings);
    await supervisor.start({ name, command: assets.programs[name]!, args, log: files.log(name) });
  }
  const url = `https://127.0.0.1:${ports.apiserver}`;
  const credentials = await authority.client("quartet-admin", ["system:masters"]);
  const admin = testClient(kubeconfigText(url, authority.cert, "quartet-admin", credentials));
  try {
    const probes: Probes = { supervisor, ports, workDir, admin };
    for (const name of components) await waitForComponent(name, probes);
    await waitForDefaults(probes, settings.controllerManager);
    const { gitVersion } = await admin.ok<{ gitVersion: string }>("GET", "/version");
    return { workDir, url, ca: authority.cert, version: gitVersion, ports, audit: settings.audit };
  } finally {
    admin.close();
  }
}
