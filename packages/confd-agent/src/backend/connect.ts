/** Makes the backend that settings ask for. Each is loaded only where it is used. */
import { ABSENT_BACKENDS, BACKENDS } from "../config/flags.ts";
import type { BackendSettings, Environment } from "../config/settings.ts";
import { ConfigError } from "../errors.ts";
import type { Level } from "../observe/log.ts";
import type { Backend } from "./backend.ts";
import { checkLogin } from "./vault/ways.ts";

type Notice = (level: Level, message: string) => void;

/** Throws a {@link ConfigError} when the settings of a backend cannot work, before anything is asked. */
export function checkBackend(settings: BackendSettings, environment: Environment): void {
  const { backend, file, clientCert, clientKey } = settings;
  if (ABSENT_BACKENDS.includes(backend)) {
    throw new ConfigError(
      `backend ${backend} is not included in this build: use one of ${BACKENDS.join(", ")}`,
    );
  }
  if (!BACKENDS.includes(backend)) {
    throw new ConfigError(`Invalid backend ${JSON.stringify(backend)}: use one of ${BACKENDS.join(", ")}`);
  }
  if (backend === "file" && file.length === 0)
    throw new ConfigError("backend file: no file: name one with -file");
  if (backend !== "redis" && (clientCert === "") !== (clientKey === "")) {
    throw new ConfigError("client-cert and client-key belong together: give both");
  }
  if (backend === "zookeeper" && (settings.clientCaKeys !== "" || clientCert !== "")) {
    throw new ConfigError("backend zookeeper: connections with TLS are not included in this build");
  }
  if (backend === "vault") checkLogin(settings, environment);
}

export async function connectBackend(
  settings: BackendSettings,
  environment: Environment,
  notice: Notice,
): Promise<Backend> {
  checkBackend(settings, environment);
  switch (settings.backend) {
    case "env": {
      const { createEnvBackend } = await import("./env.ts");
      return createEnvBackend({ environment, warn: (message) => notice("warn", message) });
    }
    case "file": {
      const { createFileBackend } = await import("./file.ts");
      return createFileBackend({ paths: settings.file, filter: settings.filter });
    }
    case "etcd":
    case "etcdv3": {
      const { createEtcdBackend } = await import("./etcd/etcd.ts");
      return createEtcdBackend(settings);
    }
    case "redis": {
      const { createRedisBackend } = await import("./redis/redis.ts");
      return createRedisBackend({ settings, notice });
    }
    case "kubernetes": {
      const { createKubernetesBackend } = await import("./kubernetes/kubernetes.ts");
      return await createKubernetesBackend({ settings, environment });
    }
    case "consul": {
      const { createConsulBackend } = await import("./consul/consul.ts");
      return createConsulBackend(settings, environment);
    }
    case "vault": {
      const { createVaultBackend } = await import("./vault/vault.ts");
      return createVaultBackend(settings, environment);
    }
    case "zookeeper": {
      const { createZooKeeperBackend } = await import("./zookeeper/zookeeper.ts");
      return createZooKeeperBackend(settings);
    }
    default:
      throw new ConfigError(`backend ${settings.backend} is not included in this build`);
  }
}
