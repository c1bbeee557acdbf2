/** A running control plane, as seen from any process that knows its handle. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiServer, Identity, RequestRecord } from "../api-server.ts";
import { type TestClient, testClient } from "../request.ts";
import {
  type AuditEvent,
  followAuditLog,
  MARKER_AGENT,
  matchesFilter,
  requestOf,
  sizeOfSync,
} from "./audit-log.ts";
import { type ComponentName, type Ports, workFiles } from "./components.ts";
import { compactEtcd } from "./etcd.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { type CertificateAuthority, readAuthority } from "./pki.ts";
import { waitForComponent } from "./readiness.ts";
import { connectSupervisor } from "./supervisor-client.ts";
import type { ComponentStatus } from "./supervisor-protocol.ts";

/** All that another process needs to use a control plane; plain JSON. */
export interface ControlPlaneHandle {
  workDir: string;
  url: string;
  ca: string;
  version: string;
  ports: Ports;
  audit: boolean;
}

/** A real API server with its etcd and helpers. */
export interface ControlPlane extends ApiServer {
  readonly target: "real";
  readonly handle: ControlPlaneHandle;
  /** Folder of certificates, logs and data; removed at the end unless `keepLogs` was called. */
  readonly workDir: string;
  /** The CA; signs serving certificates for webhooks and proxies, and client certificates. */
  readonly authority: CertificateAuthority;
  /** Events of the audit log so far, with bodies where the policy asks for them. */
  auditEvents(filter?: (event: AuditEvent) => boolean): Promise<AuditEvent[]>;
  /** Stops the API server (SIGTERM by default), starts it again on its port, and resolves when it is ready. */
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Compacts etcd at its newest revision, which it returns. */
  compactEtcd(): Promise<number>;
  /**
   * Makes resource versions of before unusable: changes, a compaction, a restart of the API server. A watch from an
   * older version then gets 410. Compaction alone is not enough, since watch caches still serve what they hold.
   */
  forgetHistory(): Promise<void>;
  /** Freezes a component (SIGSTOP); the returned function lets it go on. */
  pause(component: ComponentName): Promise<() => Promise<void>>;
  /** Kills a component (SIGKILL) and resolves when it has exited. */
  kill(component: ComponentName): Promise<void>;
  /** Starts a component that was killed, and resolves when it is ready. */
  start(component: ComponentName): Promise<void>;
  /** Process ids and states of the components. */
  components(): Promise<ComponentStatus[]>;
  /** The work folder stays when the control plane ends: call it when a test has failed. */
  keepLogs(): Promise<void>;
}

export interface AttachOptions {
  /** Where `requests` begins: at the current end of the audit log (default), or at its start. */
  auditFrom?: "now" | "start";
}

/** Longest wait for a marker to appear in the audit log. */
const MARKER_LIMIT_MS = 60_000;
const MARKER_POLL_MS = 5;
/** More than the 100 events that a watch cache holds at least. */
const CHANGES_BEFORE_COMPACTION = 110;

/**
 * Uses a control plane that another process has started. `stop()` only lets go of it: it ends with its owner.
 */
export function attachControlPlane(handle: ControlPlaneHandle, options: AttachOptions = {}): ControlPlane {
  const { workDir, url, ca, version } = handle;
  const supervisor = connectSupervisor(workDir);
  const authority = readAuthority(workFiles(workDir).pki);
  let adminClient: TestClient | undefined;

  const kubeconfig: ApiServer["kubeconfig"] = async (identity: Identity & { server?: string } = {}) => {
    const { user = "quartet-admin", groups = ["system:masters"], server = url } = identity;
    return kubeconfigText(server, ca, user, await authority.client(user, groups));
  };
  const admin = async (): Promise<TestClient> => {
    adminClient ??= testClient(await kubeconfig());
    return adminClient;
  };
  const ready = async (name: ComponentName): Promise<void> =>
    waitForComponent(name, { supervisor, ports: handle.ports, workDir, admin: await admin() });
  const restartApiServer: ControlPlane["restartApiServer"] = async (signal) => {
    await supervisor.stop("kube-apiserver", signal);
    await supervisor.restart("kube-apiserver");
    await ready("kube-apiserver");
  };
  const audit = auditReader(handle, admin, options.auditFrom ?? "now");

  return {
    target: "real",
    url,
    ca,
    version,
    handle,
    workDir,
    authority,
    kubeconfig,
    requests: audit.requests,
    auditEvents: audit.events,
    restartApiServer,
    compactEtcd: () => compactEtcd(handle.ports.etcdClient),
    async forgetHistory() {
      await makeChanges(await admin(), CHANGES_BEFORE_COMPACTION);
      await compactEtcd(handle.ports.etcdClient);
      await restartApiServer();
    },
    async pause(component) {
      await supervisor.signal(component, "SIGSTOP");
      return () => supervisor.signal(component, "SIGCONT");
    },
    kill: (component) => supervisor.stop(component, "SIGKILL"),
    async start(component) {
      await supervisor.restart(component);
      await ready(component);
    },
    components: () => supervisor.status(),
    keepLogs: () => supervisor.keep(),
    async stop() {
      adminClient?.close();
    },
  };
}

/** Writes a ConfigMap of its own so many times. */
async function makeChanges(client: TestClient, count: number): Promise<void> {
  const name = "quartet-history";
  const path = `/api/v1/namespaces/default/configmaps/${name}?fieldManager=quartet-testing&force=true`;
  for (let n = 0; n < count; n++) {
    const data = { change: `${n}`, at: `${Date.now()}` };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
    await client.ok("PATCH", path, body, { contentType: "application/apply-patch+yaml" });
  }
}

interface AuditReader {
  requests: ApiServer["requests"];
  events: ControlPlane["auditEvents"];
}

/** Reads the audit log, up to a request of its own that it sends first: so what was answered before is in it. */
function auditReader(
  handle: ControlPlaneHandle,
  admin: () => Promise<TestClient>,
  from: "now" | "start",
): AuditReader {
  const file = workFiles(handle.workDir).auditLog;
  const start = from === "now" ? sizeOfSync(file) : 0;
  const log = followAuditLog(file, start);
  const records: RequestRecord[] = [];
  let last: Promise<void> = Promise.resolve();

  const take = (event: AuditEvent, markers: Set<string>): void => {
    if (event.userAgent?.startsWith(MARKER_AGENT)) markers.add(event.userAgent);
    else {
      const record = requestOf(event);
      if (record !== undefined) records.push(record);
    }
  };
  const catchUp = async (): Promise<void> => {
    if (!handle.audit) throw new Error("this control plane has no audit log: start it with an auditPolicy");
    const marker = `${MARKER_AGENT}/${crypto.randomUUID()}`;
    const client = await admin();
    await client.request("GET", "/version", undefined, { headers: { "user-agent": marker } });
    const seen = new Set<string>();
    const deadline = Date.now() + MARKER_LIMIT_MS;
    while (!seen.has(marker)) {
      await log.advance((event) => take(event, seen));
      if (Date.now() > deadline) throw new Error(`${file}: a request is missing after ${MARKER_LIMIT_MS} ms`);
      if (!seen.has(marker)) await sleep(MARKER_POLL_MS);
    }
  };
  /** One reader at a time. */
  const synchronize = (): Promise<void> => {
    last = last.then(catchUp, catchUp);
    return last;
  };

  return {
    async requests(filter = {}) {
      await synchronize();
      return records.filter((record) => matchesFilter(record, filter)).sort((a, b) => a.at - b.at);
    },
    async events(filter = () => true) {
      await synchronize();
      const events: AuditEvent[] = [];
      await followAuditLog(file, start).advance((event) => {
        if (!event.userAgent?.startsWith(MARKER_AGENT) && filter(event)) events.push(event);
      });
      return events;
    },
  };
}
