/** One resource for each feature that leaves a trace in a StatefulSet. Their generated forms are kept in `revision-1/`. */
import type { JsonMap } from "@quartet/core/kinds";
import type { MountedConfig } from "../../src/desired/volumes.ts";

export interface Feature {
  readonly spec: JsonMap;
  readonly config?: MountedConfig;
}

const MERGED: MountedConfig = { mode: "merged", name: "f", kind: "ConfigMap", digest: "0123456789abcdef" };
const CLUSTER = { type: "cluster", replicas: 3 };
const MYSQL = { type: "mysql", mysqlHost: "db", mysqlPort: "3307", mysqlDb: "n", mysqlUser: "u" };
const wrapped = (PodSpec: JsonMap): Feature => ({ spec: { k8sWrapper: { PodSpec } } });

export const FEATURES: Readonly<Record<string, Feature>> = {
  standalone: { spec: {} },
  cluster: { spec: CLUSTER },
  "cluster-of-another-domain": { spec: { ...CLUSTER, env: [{ name: "DOMAIN_NAME", value: "example.org" }] } },
  "function-mode": { spec: { function_mode: "config" } },
  "console-of-nacos-3": { spec: { image: "nacos/nacos-server:v3.0.1" } },
  "cluster-of-nacos-3": { spec: { ...CLUSTER, image: "nacos/nacos-server:v3.0.1" } },
  "config-merged": { spec: {}, config: MERGED },
  "config-merged-secret": { spec: {}, config: { ...MERGED, kind: "Secret" } },
  "config-legacy": { spec: { config: "a=1" }, config: { mode: "legacy", name: "demo" } },
  "auth-generated": { spec: { certification: { enabled: true } } },
  "auth-secret": { spec: { certification: { enabled: true, tokenSecretRef: { name: "t", key: "k" } } } },
  "auth-literal": {
    spec: {
      certification: { enabled: true, token: "dG9rZW4=", token_expire_seconds: "60", cache_enabled: true },
    },
  },
  identity: { spec: { identitySecretRef: { name: "i" } } },
  "identity-keys": { spec: { identitySecretRef: { name: "i", keyKey: "a", valueKey: "b" } } },
  "mysql-literal": { spec: { database: { ...MYSQL, mysqlPassword: "p" } } },
  "mysql-secret": { spec: { database: { ...MYSQL, credentialsSecretRef: { name: "login" } } } },
  "mysql-init": {
    spec: { mysqlInitImage: "mysql:8.4", database: { ...MYSQL, credentialsSecretRef: { name: "login" } } },
  },
  "mysql-init-literal": { spec: { mysqlInitImage: "mysql:8.4", database: { ...MYSQL, mysqlPassword: "p" } } },
  "mysql-init-cluster": {
    spec: {
      ...CLUSTER,
      mysqlInitImage: "mysql:8.4",
      database: { type: "mysql", mysqlHost: "db", mysqlPassword: "p" },
    },
  },
  postgres: {
    spec: { postgres: { host: "pg", port: "5433", database: "n", credentialsSecretRef: { name: "login" } } },
  },
  "postgres-database": { spec: { database: { type: "postgresql" } } },
  admin: {
    spec: {
      postgres: { host: "pg", database: "n", credentialsSecretRef: { name: "login" } },
      adminCredentialsSecretRef: { name: "admin" },
    },
  },
  env: {
    spec: {
      env: [
        { name: "B", value: "2" },
        { name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
        { name: "PREFER_HOST_MODE", value: "ip" },
      ],
    },
  },
  resources: { spec: { resources: { requests: { cpu: "100m" }, limits: { memory: "2Gi" } } } },
  probes: {
    spec: {
      livenessProbe: { httpGet: { path: "/live", port: 8848 } },
      readinessProbe: { httpGet: { path: "/ready", port: 8848 } },
    },
  },
  scheduling: {
    spec: {
      imagePullSecrets: [{ name: "pull" }],
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "k", operator: "Exists" }],
      affinity: {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "z" }] },
      },
    },
  },
  "volume-host-path": { spec: { volume: { hostPath: { path: "/data" } } } },
  "volume-empty-dir": { spec: { volume: { emptyDir: { sizeLimit: "1Gi" } } } },
  "volume-claim": {
    spec: {
      volume: {
        persistentVolumeSize: "1Gi",
        volumeClaimTemplate: { metadata: { name: "data" }, spec: { storageClassName: "fast" } },
      },
    },
  },
  "volume-upstream": {
    spec: { volume: { enabled: true, requests: { storage: "1Gi" }, storageClass: "slow" } },
  },
  "volume-deleted": {
    spec: {
      volume: { persistentVolumeSize: "1Gi", volumeClaimTemplate: { spec: {} }, deletePolicy: "Delete" },
    },
  },
  "wrapper-container": wrapped({
    containers: [
      {
        name: "demo",
        image: "other:1",
        command: ["run"],
        env: [{ name: "JVM_XMS", value: "1g" }],
        ports: [{ name: "client", containerPort: 9000 }],
        volumeMounts: [{ name: "extra", mountPath: "/extra" }],
        livenessProbe: { exec: { command: ["true"] } },
        resources: { limits: { cpu: "2" } },
        securityContext: { runAsUser: 1000 },
      },
    ],
    volumes: [{ name: "extra", emptyDir: {} }],
  }),
  "wrapper-sidecars": wrapped({
    containers: [{ name: "side", image: "side:1" }],
    initContainers: [{ name: "first", image: "init:1" }],
  }),
  "wrapper-pod": wrapped({
    serviceAccountName: "runner",
    automountServiceAccountToken: false,
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["h"] }],
    dnsConfig: { searches: ["x"] },
    tolerations: [{ key: "k" }],
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }],
    securityContext: { fsGroup: 1000 },
  }),
};
