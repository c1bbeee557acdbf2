/** Start arguments of the components. */
import { join } from "node:path";
import { pkiFiles } from "./pki.ts";

/** Components in their start order; they are stopped in the opposite one. */
export const COMPONENTS = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
] as const;

export type ComponentName = (typeof COMPONENTS)[number];

/** Default of `podCidr`: kwok hands pod addresses out of it. */
export const DEFAULT_POD_CIDR = "10.1.0.0/16";
/** Range of service addresses; the serving certificate carries its first one. */
const SERVICE_CIDR = "10.0.0.0/16";
/** 8 GiB, the largest database that etcd recommends. */
const ETCD_QUOTA_BYTES = 8_589_934_592;
/** Lease of a kwok node. */
const NODE_LEASE_SECONDS = 40;
/** The audit log is one file up to this size: readers need not follow a rotation. */
const AUDIT_LOG_MAX_MIB = 100_000;

/** The controllers of the controller manager that operators and their tests build on. */
export const CONTROLLERS: readonly string[] = [
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "root-ca-certificate-publisher-controller",
  "namespace-controller",
  "garbage-collector-controller",
  "statefulset-controller",
  "deployment-controller",
  "replicaset-controller",
  "daemonset-controller",
  "job-controller",
  "disruption-controller",
  "persistentvolume-binder-controller",
  "pod-garbage-collector-controller",
  "resourcequota-controller",
  "node-lifecycle-controller",
];

/**
 * Runs where pods have addresses that the API server takes. It refuses loopback ones, and this controller tries again:
 * a tenth of all requests of a test run.
 */
const ENDPOINT_SLICE_CONTROLLER = "endpointslice-controller";
const LOOPBACK = "127.";

/** Loopback ports of the listeners. */
export interface Ports {
  etcdClient: number;
  etcdPeer: number;
  apiserver: number;
  controllerManager: number;
  scheduler: number;
  kwok: number;
}

/** What the arguments depend on. */
export interface ComponentSettings {
  workDir: string;
  ports: Ports;
  /** Full mode: with the controller manager, so with ServiceAccount admission and node authorization. */
  controllerManager: boolean;
  podCidr: string;
  audit: boolean;
  featureGates: Readonly<Record<string, boolean>>;
  benchmark: boolean;
  etcdArgs: readonly string[];
  apiserverArgs: readonly string[];
  schedulerArgs: readonly string[];
}

/** Files of a work folder. */
export interface WorkFiles {
  pki: string;
  etcdData: string;
  tokens: string;
  auditLog: string;
  auditPolicy: string;
  kwokConfig: string;
  handle: string;
  kubeconfig(component: string): string;
  log(component: string): string;
}

export function workFiles(workDir: string): WorkFiles {
  return {
    pki: join(workDir, "pki"),
    etcdData: join(workDir, "etcd"),
    tokens: join(workDir, "pki", "tokens.csv"),
    auditLog: join(workDir, "audit.log"),
    auditPolicy: join(workDir, "audit-policy.yaml"),
    kwokConfig: join(workDir, "kwok.yaml"),
    handle: join(workDir, "control-plane.json"),
    kubeconfig: (component) => join(workDir, `${component}.kubeconfig`),
    log: (component) => join(workDir, `${component}.log`),
  };
}

/** Arguments of a component. */
export function componentArguments(name: ComponentName, settings: ComponentSettings): string[] {
  return BUILDERS[name](settings, workFiles(settings.workDir));
}

type Builder = (settings: ComponentSettings, files: WorkFiles) => string[];

const BUILDERS: Record<ComponentName, Builder> = {
  etcd: ({ ports, etcdArgs }, files) => {
    const client = `http://127.0.0.1:${ports.etcdClient}`;
    const peer = `http://127.0.0.1:${ports.etcdPeer}`;
    return [
      "--name=node0",
      `--data-dir=${files.etcdData}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=node0=${peer}`,
      "--unsafe-no-fsync=true",
      "--auto-compaction-retention=1",
      `--quota-backend-bytes=${ETCD_QUOTA_BYTES}`,
      ...etcdArgs,
    ];
  },

  "kube-apiserver": (settings, files) => {
    const pki = pkiFiles(files.pki);
    const gates = Object.entries(settings.featureGates).map(([gate, on]) => `${gate}=${on}`);
    return [
      `--etcd-servers=http://127.0.0.1:${settings.ports.etcdClient}`,
      "--etcd-prefix=/registry",
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${settings.ports.apiserver}`,
      "--endpoint-reconciler-type=none",
      `--tls-cert-file=${pki.servingCert}`,
      `--tls-private-key-file=${pki.servingKey}`,
      `--client-ca-file=${pki.caCert}`,
      `--token-auth-file=${files.tokens}`,
      // Without the controller manager there is no default ServiceAccount, and no kubelet speaks for a node.
      ...(settings.controllerManager
        ? ["--authorization-mode=Node,RBAC"]
        : ["--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount"]),
      "--allow-privileged=true",
      `--service-cluster-ip-range=${SERVICE_CIDR}`,
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      `--service-account-key-file=${pki.serviceAccountPublicKey}`,
      `--service-account-signing-key-file=${pki.serviceAccountPrivateKey}`,
      "--profiling=false",
      // Ends open watches at SIGTERM; else the server waits for their clients until it is killed.
      "--shutdown-watch-termination-grace-period=1s",
      ...(settings.audit ? auditArguments(files) : []),
      ...(settings.benchmark ? BENCHMARK_ARGUMENTS : []),
      ...(gates.length > 0 ? [`--feature-gates=${gates.join(",")}`] : []),
      ...settings.apiserverArgs,
    ];
  },

  "kube-controller-manager": ({ ports, podCidr }, files) => {
    const pki = pkiFiles(files.pki);
    const controllers = podCidr.startsWith(LOOPBACK)
      ? CONTROLLERS
      : [...CONTROLLERS, ENDPOINT_SLICE_CONTROLLER];
    return [
      `--kubeconfig=${files.kubeconfig("kube-controller-manager")}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${ports.controllerManager}`,
      "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
      "--use-service-account-credentials=true",
      `--service-account-private-key-file=${pki.serviceAccountPrivateKey}`,
      `--root-ca-file=${pki.caCert}`,
      "--kube-api-qps=200",
      "--kube-api-burst=400",
      "--concurrent-statefulset-syncs=10",
      "--concurrent-gc-syncs=20",
      `--controllers=${controllers.join(",")}`,
    ];
  },

  "kube-scheduler": ({ ports, benchmark, schedulerArgs }, files) => [
    `--kubeconfig=${files.kubeconfig("kube-scheduler")}`,
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${ports.scheduler}`,
    ...(benchmark ? BENCHMARK_SCHEDULER_ARGUMENTS : []),
    ...schedulerArgs,
  ],

  kwok: ({ ports, podCidr, benchmark }, files) => [
    `--kubeconfig=${files.kubeconfig("kwok")}`,
    `--config=${files.kwokConfig}`,
    "--manage-all-nodes=true",
    `--cidr=${podCidr}`,
    "--node-ip=127.0.0.1",
    `--server-address=127.0.0.1:${ports.kwok}`,
    // 0: no leases. Those of a thousand nodes take a hundred requests a second.
    `--node-lease-duration-seconds=${benchmark ? 0 : NODE_LEASE_SECONDS}`,
  ],
};

/** No limit on requests at a time, no flow control: a benchmark measures the client. */
const BENCHMARK_ARGUMENTS: readonly string[] = [
  "--max-requests-inflight=0",
  "--max-mutating-requests-inflight=0",
  "--enable-priority-and-fairness=false",
];

/** Pods are bound as fast as the API server takes it; the default is 50 a second. */
const BENCHMARK_SCHEDULER_ARGUMENTS: readonly string[] = ["--kube-api-qps=1000", "--kube-api-burst=1000"];

/** An entry is in the file before its request counts as done. */
function auditArguments(files: WorkFiles): string[] {
  return [
    `--audit-log-path=${files.auditLog}`,
    `--audit-policy-file=${files.auditPolicy}`,
    "--audit-log-mode=blocking",
    `--audit-log-maxsize=${AUDIT_LOG_MAX_MIB}`,
  ];
}
