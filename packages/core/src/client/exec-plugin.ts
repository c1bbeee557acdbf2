/** Credential plugins of kubeconfig users (`user.exec`). */
import { spawn } from "node:child_process";
import { resolve as absolute } from "node:path";
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import type { Identity, IdentitySource } from "./credentials.ts";
import { CredentialsError } from "./errors.ts";
import type { Environment } from "./proxy.ts";

/** Renewal begins this long before the credentials expire. CORE-104. */
const RENEW_BEFORE_MS = 30_000;
/** A plugin that takes longer is ended: it probably waits for somebody at a terminal. */
const PLUGIN_TIMEOUT_MS = 60_000;
/** More output than any credential needs. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** `user.exec` of a kubeconfig. */
export interface ExecSpec {
  apiVersion?: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: string;
}

export interface ExecPluginOptions {
  spec: ExecSpec;
  /** Folder of the kubeconfig: relative commands are looked up from there. */
  directory: string;
  /** Handed to the plugin when it asks for it by `provideClusterInfo`. */
  cluster: Readonly<Record<string, unknown>>;
  env: Environment;
  clock: Clock;
  log: Logger | undefined;
}

interface Held {
  identity: Identity;
  /** Wall-clock milliseconds; `undefined` for credentials that do not expire. */
  expiresAt: number | undefined;
}

/** Identity from a plugin; it runs at most once at a time, however many requests wait for it. */
export function execIdentity(options: ExecPluginOptions): IdentitySource {
  const { clock, log, spec } = options;
  let held: Held | undefined;
  let running: Promise<Identity> | undefined;

  const run = (): Promise<Identity> => {
    running ??= runPlugin(options)
      .then((output) => {
        held = parseCredential(spec, output);
        return held.identity;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };

  const renew = async (current: Held): Promise<Identity> => {
    try {
      return await run();
    } catch (error) {
      if (current.expiresAt !== undefined && clock.now() >= current.expiresAt) throw error;
      log?.warn("credential plugin failed, the former credentials stay in use until they expire", { error });
      return current.identity;
    }
  };

  return {
    get() {
      if (held === undefined) return run();
      const due = held.expiresAt !== undefined && clock.now() >= held.expiresAt - RENEW_BEFORE_MS;
      return due ? renew(held) : held.identity;
    },
    refresh: (refused) =>
      held === undefined || held.identity === refused ? run() : Promise.resolve(held.identity),
  };
}

function runPlugin(options: ExecPluginOptions): Promise<string> {
  const { spec, directory } = options;
  if (spec.interactiveMode === "Always") {
    throw new CredentialsError(
      `credential plugin ${spec.command} wants a terminal (interactiveMode: Always), which a manager does not have`,
    );
  }
  // A bare name is looked up in PATH; a path counts from the kubeconfig's folder, which may be "." itself.
  const command = /[/\\]/.test(spec.command) ? absolute(directory, spec.command) : spec.command;
  return new Promise((resolve, reject) => {
    const child = spawn(command, spec.args ?? [], {
      env: environmentOf(options),
      // The plugin's own words go where it would write them under kubectl.
      stdio: ["ignore", "pipe", "inherit"],
    });
    const fail = (problem: string, hint = ""): void => {
      cancel();
      reject(new CredentialsError(`credential plugin ${spec.command} ${problem}${hint}`));
    };
    const cancel = options.clock.setTimer(PLUGIN_TIMEOUT_MS, () => {
      child.kill("SIGKILL");
      fail(`did not finish within ${PLUGIN_TIMEOUT_MS / 1000} s`);
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      const hint = error.code === "ENOENT" && spec.installHint ? `\n${spec.installHint}` : "";
      fail(`could not be started: ${error.code ?? error.message}`, hint);
    });
    child.once("close", (code, signal) => {
      cancel();
      if (code !== 0) return fail(`ended with ${code === null ? `signal ${signal}` : `code ${code}`}`);
      if (bytes > MAX_OUTPUT_BYTES) return fail("wrote more than 1 MiB");
      resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}

function environmentOf({ spec, cluster, env }: ExecPluginOptions): NodeJS.ProcessEnv {
  const info = {
    apiVersion: spec.apiVersion ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, ...(spec.provideClusterInfo === true ? { cluster } : {}) },
  };
  const own = Object.fromEntries((spec.env ?? []).map(({ name, value }) => [name, value]));
  return { ...env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
}

interface ExecCredential {
  kind?: string;
  apiVersion?: string;
  status?: {
    token?: string;
    clientCertificateData?: string;
    clientKeyData?: string;
    expirationTimestamp?: string;
  };
}

function parseCredential(spec: ExecSpec, output: string): Held {
  let credential: ExecCredential;
  try {
    credential = JSON.parse(output) as ExecCredential;
  } catch {
    // The parser's message quotes the output, which holds the secret.
    throw new CredentialsError(`credential plugin ${spec.command} did not write JSON`);
  }
  const status = credential?.status;
  const { token, clientCertificateData: cert, clientKeyData: key } = status ?? {};
  if (credential?.kind !== "ExecCredential" || status === undefined || (!token && !cert)) {
    throw new CredentialsError(
      `credential plugin ${spec.command} wrote no ExecCredential with a token or client certificate`,
    );
  }
  if (Boolean(cert) !== Boolean(key)) {
    throw new CredentialsError(
      `credential plugin ${spec.command}: clientCertificateData and clientKeyData come only together`,
    );
  }
  const expiresAt = status.expirationTimestamp ? Date.parse(status.expirationTimestamp) : Number.NaN;
  return {
    identity: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(cert && key ? { certificate: { cert, key } } : {}),
    },
    expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt,
  };
}
