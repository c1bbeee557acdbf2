/** Patches that admission refuses, each for a reason of its own: judged by the function, and by a server that asks it. */
import type { PodTemplate } from "../../src/api.ts";

/** The template that they are patches of. */
export const TEMPLATE: PodTemplate = {
  metadata: { labels: { app: "agent" } },
  spec: {
    containers: [
      {
        name: "main",
        image: "agent:1",
        env: [{ name: "CACHE", value: "500Gi" }],
        ports: [
          { name: "t", containerPort: 53, protocol: "TCP" },
          { name: "u", containerPort: 53, protocol: "UDP" },
          { name: "h", containerPort: 80 },
        ],
        livenessProbe: { exec: { command: ["true"] } },
        volumeMounts: [{ name: "v", mountPath: "/v" }],
      },
    ],
    volumes: [{ name: "v", emptyDir: {} }],
  },
};

/** A patch of its container. */
export const main = (more: object): object => ({ spec: { containers: [{ name: "main", ...more }] } });

/** The path begins at the patch; an empty one is the patch itself. */
export const REFUSED_PATCHES: readonly [rule: string, patch: object, path: string, message: RegExp][] = [
  ["DSP-342", { containers: [] }, "containers", /forbidden.*rooted/],
  ["DSP-342", { spec: { template: {} } }, "spec.template", /remove the extra level/],
  ["DSP-343", { metadata: { name: "x" } }, "metadata.name", /forbidden/],
  ["DSP-344", main({ imge: "x" }), "spec.containers[0].imge", /unknown field; did you mean image/],
  ["DSP-345", main({ image: 5 }), "spec.containers[0].image", /must be a string/],
  ["DSP-345", main({ env: {} }), "spec.containers[0].env", /must be a list/],
  ["DSP-345", { spec: { hostNetwork: "yes" } }, "spec.hostNetwork", /true or false/],
  ["DSP-346", main({ env: [{ value: "x" }] }), "spec.containers[0].env[0]", /must contain name/],
  ["DSP-347", main({ resources: { $patch: "merge" } }), "spec.containers[0].resources.$patch", /unknown/],
  ["DSP-347", { spec: { $patch: "replace" } }, "spec.$patch", /forbidden/],
  ["DSP-347", { $patch: "delete" }, "$patch", /forbidden/],
  ["DSP-347", { spec: { tolerations: [{ $patch: "replace" }] } }, "spec.tolerations[0].$patch", /as a whole/],
  ["DSP-348", main({ $retainKeys: "name" }), "spec.containers[0].$retainKeys", /list of field names/],
  ["DSP-348", main({ $retainKeys: ["image"] }), "spec.containers[0].$retainKeys", /must contain name/],
  ["DSP-348", main({ $setElementOrder: [] }), "spec.containers[0].$setElementOrder", /\/<list>/],
  [
    "DSP-348",
    main({ "$setElementOrder/envs": [] }),
    "spec.containers[0].$setElementOrder/envs",
    /no list envs/,
  ],
  [
    "DSP-348",
    main({ "$setElementOrder/env": "x" }),
    "spec.containers[0].$setElementOrder/env",
    /must be a list/,
  ],
  [
    "DSP-348",
    main({ env: [{ name: "B", value: "1" }], "$setElementOrder/env": [{ name: "A" }] }),
    "",
    /invalid patch format.*\$setElementOrder/,
  ],
  [
    "DSP-349",
    main({ args: ["a"], "$deleteFromPrimitiveList/args": ["b"] }),
    "spec.containers[0].$deleteFromPrimitiveList/args",
    /beside args/,
  ],
  ["DSP-350", { spec: { nodeName: null } }, "spec.nodeName", /stay on its node/],
  ["DSP-350", { spec: { nodeSelector: { a: "b" } } }, "spec.nodeSelector", /stay on its node/],
  [
    "DSP-351",
    { spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } } },
    "spec.affinity.nodeAffinity",
    /stay on its node/,
  ],
  ["DSP-352", { metadata: { labels: { app: "other" } } }, "metadata.labels", /goes by app/],
  [
    "DSP-353",
    { metadata: { labels: { "daemonset.kruise.io/x": "1" } } },
    "metadata.labels[daemonset.kruise.io/x]",
    /reserved/,
  ],
  ["DSP-354", { spec: { restartPolicy: "OnFailure" } }, "spec.restartPolicy", /Always/],
  ["DSP-354", { spec: { activeDeadlineSeconds: 5 } }, "spec.activeDeadlineSeconds", /no end/],
  [
    "DSP-355",
    { spec: { containers: [{ name: "mian", env: [] }] } },
    "spec.containers[0].image",
    /"mian" is no container.*main/,
  ],
  ["DSP-356", { spec: { containers: null } }, "spec.containers", /at least one/],
  [
    "DSP-357",
    { spec: { initContainers: [{ name: "main", image: "x" }] } },
    "spec.initContainers[0].name",
    /duplicate/,
  ],
  [
    "DSP-358",
    main({ ports: [{ containerPort: 53, hostPort: 53 }] }),
    "spec.containers[0].ports[0]",
    /ambiguous/,
  ],
  [
    "DSP-359",
    { spec: { volumes: [{ name: "v", hostPath: { path: "/d" } }] } },
    "spec.volumes[0]",
    /emptyDir and hostPath.*\$retainKeys/,
  ],
  [
    "DSP-360",
    main({ env: [{ name: "CACHE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] }),
    "spec.containers[0].env[0]",
    /value: null/,
  ],
  [
    "DSP-361",
    main({ livenessProbe: { httpGet: { port: 80 } } }),
    "spec.containers[0].livenessProbe",
    /exec and httpGet.*\$retainKeys/,
  ],
  [
    "DSP-362",
    main({ resources: { requests: { "nvidia.com/gpu": 1 } } }),
    "spec.containers[0].resources.requests[nvidia.com/gpu]",
    /nvidia\.com\/gpu.*limits/,
  ],
  [
    "DSP-363",
    main({ volumeMounts: [{ name: "w", mountPath: "/w" }] }),
    "spec.containers[0].volumeMounts[0].name",
    /no volume "w"/,
  ],
  [
    "DSP-364",
    { spec: { containers: [{ name: "new", image: "x", env: [{ name: "A", $patch: "delete" }] }] } },
    "spec.containers[0].env[0].$patch",
    /nothing to act on/,
  ],
];
