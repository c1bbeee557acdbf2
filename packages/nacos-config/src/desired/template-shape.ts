/**
 * What is known of a pod template's structure: which lists are told apart by key, what the API server fills in, and
 * where quantities stand. Source: Kubernetes 1.37 `pkg/apis/core/v1/defaults.go` and the API reference.
 */
import type { JsonMap } from "./k8s.ts";
import { fields, tolerationKey } from "./wrapper/keyed.ts";

/** Structure of one kind of value. */
export interface Shape {
  /** Members that the server adds when they are absent; a function gets the object as it was sent. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly members?: Readonly<Record<string, Shape>>;
  /** The value is a list whose elements are told apart by this key; their order does not count. */
  readonly key?: (item: JsonMap) => string;
  /** Shape of a list's elements. */
  readonly items?: Shape;
  /** Zero is the same as absent: in the server the members are no pointers. */
  readonly zeroIsAbsent?: boolean;
  /** The value is a quantity. */
  readonly quantity?: boolean;
  /** All members are quantities. */
  readonly quantities?: boolean;
}

const QUANTITY: Shape = { quantity: true };

const RESOURCES: Shape = { members: { limits: { quantities: true }, requests: { quantities: true } } };

/** A field of the pod or of a container's resources, as a variable or a file has it. */
const DOWNWARD: Readonly<Record<string, Shape>> = {
  fieldRef: { defaults: { apiVersion: "v1" } },
  resourceFieldRef: { defaults: { divisor: "0" }, members: { divisor: QUANTITY } },
};

const HTTP_GET: Shape = { defaults: { path: "/", scheme: "HTTP" } };

const PROBE: Shape = {
  defaults: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  members: { httpGet: HTTP_GET },
  zeroIsAbsent: true,
};

const LIFECYCLE_HANDLER: Shape = { members: { httpGet: HTTP_GET } };

const ENV: Shape = {
  key: fields("name"),
  items: {
    members: { valueFrom: { members: { ...DOWNWARD, fileKeyRef: { defaults: { optional: false } } } } },
  },
};

const CONTAINERS: Shape = {
  key: fields("name"),
  items: {
    defaults: {
      imagePullPolicy: ({ image }: JsonMap) => pullPolicy(image),
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    },
    members: {
      ports: {
        key: (port) =>
          fields("containerPort", "protocol", "name")({ ...port, protocol: port.protocol || "TCP" }),
        items: { defaults: { protocol: "TCP", hostPort: (port: JsonMap) => port.containerPort } },
      },
      env: ENV,
      resources: RESOURCES,
      volumeMounts: { key: fields("mountPath") },
      volumeDevices: { key: fields("devicePath") },
      livenessProbe: PROBE,
      readinessProbe: PROBE,
      startupProbe: PROBE,
      lifecycle: { members: { postStart: LIFECYCLE_HANDLER, preStop: LIFECYCLE_HANDLER } },
    },
  },
};

/** Octal 0644, the mode of files in map volumes. */
const FILE_MODE = 420;
const MAP_VOLUME: Shape = { defaults: { defaultMode: FILE_MODE } };
const DOWNWARD_ITEMS: Readonly<Record<string, Shape>> = { items: { items: { members: DOWNWARD } } };

const VOLUMES: Shape = {
  key: fields("name"),
  items: {
    members: {
      configMap: MAP_VOLUME,
      secret: MAP_VOLUME,
      downwardAPI: { ...MAP_VOLUME, members: DOWNWARD_ITEMS },
      emptyDir: { members: { sizeLimit: QUANTITY } },
      image: { defaults: { pullPolicy: ({ reference }: JsonMap) => pullPolicy(reference) } },
      projected: {
        defaults: { defaultMode: FILE_MODE },
        members: {
          sources: {
            items: {
              members: {
                serviceAccountToken: { defaults: { expirationSeconds: 3600 } },
                downwardAPI: { members: DOWNWARD_ITEMS },
              },
            },
          },
        },
      },
      ephemeral: {
        members: {
          volumeClaimTemplate: {
            members: { spec: { defaults: { volumeMode: "Filesystem" }, members: { resources: RESOURCES } } },
          },
        },
      },
      iscsi: { defaults: { iscsiInterface: "default" } },
      rbd: { defaults: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" } },
      azureDisk: { defaults: { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" } },
      scaleIO: { defaults: { storageMode: "ThinProvisioned", fsType: "xfs" } },
    },
  },
};

/** Shape of `spec.template.spec`. */
export const POD_SPEC_SHAPE: Shape = {
  defaults: {
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    terminationGracePeriodSeconds: 30,
    serviceAccount: (pod: JsonMap) => pod.serviceAccountName,
    serviceAccountName: (pod: JsonMap) => pod.serviceAccount,
  },
  members: {
    containers: CONTAINERS,
    initContainers: CONTAINERS,
    volumes: VOLUMES,
    imagePullSecrets: { key: fields("name") },
    hostAliases: { key: fields("ip") },
    tolerations: { key: tolerationKey },
    topologySpreadConstraints: { key: fields("topologyKey", "whenUnsatisfiable") },
    overhead: { quantities: true },
    resources: RESOURCES,
  },
};

/** Images tagged `latest`, and those with neither tag nor digest, are pulled each time. */
function pullPolicy(image: unknown): string {
  const [name = "", digest] = String(image ?? "").split("@");
  const tag = name.slice(name.lastIndexOf("/") + 1).split(":")[1];
  return (tag ?? (digest === undefined ? "latest" : "")) === "latest" ? "Always" : "IfNotPresent";
}
