/** Pods as a cluster has them, to fill caches with. */
import type { TestClient } from "@quartet/testing";
import { forEach } from "./echoes.ts";

/** Creates pods `pod-<from>` to `pod-<to - 1>`. No node runs them: they are there to be cached. */
export async function createPods(
  client: TestClient,
  namespace: string,
  from: number,
  to: number,
): Promise<void> {
  const numbers = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  await forEach(numbers, async (number) => {
    await client.ok("POST", `/api/v1/namespaces/${namespace}/pods`, pod(number));
  });
}

/** A pod of a common size: two containers with probes, variables and mounts. */
function pod(number: number): object {
  const app = `app-${number % 100}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${number}`,
      labels: {
        "app.kubernetes.io/name": app,
        "app.kubernetes.io/instance": `${app}-${number}`,
        tier: "web",
      },
      annotations: { "example.com/checksum": `${number}`.padStart(64, "0") },
    },
    spec: {
      containers: ["server", "sidecar"].map((name) => container(name, app)),
      volumes: [
        { name: "config", configMap: { name: `${app}-config` } },
        { name: "data", emptyDir: {} },
      ],
    },
  };
}

function container(name: string, app: string): object {
  const variables = ["HOST", "PORT", "LEVEL", "REGION", "TOKEN_FILE", "CACHE"];
  return {
    name,
    image: `registry.example.com/${app}/${name}:1.2.3`,
    args: ["--config=/etc/app/config.yaml", `--name=${app}`],
    env: variables.map((variable) => ({ name: variable, value: `${app}-${variable.toLowerCase()}` })),
    ports: [{ name: "http", containerPort: 8080 }],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
    livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10 },
    readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 5 },
    volumeMounts: [
      { name: "config", mountPath: "/etc/app" },
      { name: "data", mountPath: "/data" },
    ],
  };
}
