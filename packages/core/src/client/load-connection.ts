/** Finds out which API server to talk to, and as whom. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Clock, systemClock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import type { Connection } from "./connection.ts";
import { ConfigurationError } from "./errors.ts";
import { inClusterConnection } from "./in-cluster.ts";
import type { Environment } from "./proxy.ts";

export interface LoadConnectionOptions {
  /** `--kubeconfig`: this file and no other. */
  kubeconfig?: string;
  /** Context of the kubeconfig to use instead of its current one. */
  context?: string;
  /** Environment variables. Default `process.env`. */
  env?: Environment;
  log?: Logger;
  clock?: Clock;
  /** Folder of the service-account files. Default: where the kubelet mounts them. */
  serviceAccountMount?: string;
}

/**
 * Connection by `--kubeconfig`, else `$KUBECONFIG`, else the pod's service account, else `~/.kube/config`.
 * Throws `ConfigurationError`: a named file that cannot be used, or, when there is none of them, all that was tried.
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  const env = options.env ?? process.env;
  const clock = options.clock ?? systemClock;
  const tried: string[] = [];
  const byFiles = async (files: readonly string[]): Promise<Connection> => {
    // Loaded only here: a pod that uses its service account never needs it.
    const { kubeconfigConnection } = await import("./kubeconfig.ts");
    return kubeconfigConnection({ files, context: options.context, env, clock, log: options.log });
  };

  if (options.kubeconfig !== undefined && options.kubeconfig !== "") {
    if (existsSync(options.kubeconfig)) return byFiles([options.kubeconfig]);
    throw new ConfigurationError(`--kubeconfig ${options.kubeconfig}: no such file`);
  }
  tried.push("--kubeconfig: not set");

  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  const existing = listed.filter((file) => existsSync(file));
  if (existing.length > 0) return byFiles(existing);
  tried.push(
    listed.length === 0 ? "$KUBECONFIG: not set" : `$KUBECONFIG: no such file: ${listed.join(", ")}`,
  );

  try {
    return inClusterConnection({ env, clock, log: options.log, mount: options.serviceAccountMount });
  } catch (error) {
    tried.push(`in-cluster: ${error instanceof Error ? error.message : String(error)}`);
  }

  const home = join(env.HOME || homedir(), ".kube", "config");
  if (existsSync(home)) return byFiles([home]);
  tried.push(`${home}: no such file`);
  throw new ConfigurationError(
    `no credentials for an API server; tried:\n${tried.map((line) => `- ${line}`).join("\n")}`,
  );
}
