import { BUILT_IN } from "@quartet/strategic-merge";
import { describe, expect, it } from "vitest";
import { difference, templateDifference } from "./compare.ts";
import { POINTER_FIELDS } from "./pointers.gen.ts";
import { isPointer } from "./pointers.ts";

const pod = (spec: object): object => ({
  metadata: {},
  spec: { containers: [{ name: "a", image: "i:1" }], ...spec },
});
const container = (more: object): object => pod({ containers: [{ name: "a", image: "i:1", ...more }] });
const both = (a: object, b: object): (string | undefined)[] => [
  templateDifference(a, b),
  templateDifference(b, a),
];
const SAME = [undefined, undefined];

describe("difference", () => {
  it.each([
    [
      "defaults of a container",
      container({}),
      container({
        imagePullPolicy: "IfNotPresent",
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        resources: {},
        securityContext: {},
      }),
    ],
    [
      "defaults of a pod",
      pod({}),
      pod({
        restartPolicy: "Always",
        dnsPolicy: "ClusterFirst",
        schedulerName: "default-scheduler",
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      }),
    ],
    [
      "a port's protocol",
      container({ ports: [{ containerPort: 1 }] }),
      container({ ports: [{ containerPort: 1, protocol: "TCP" }] }),
    ],
    [
      "spelling of quantities",
      container({ resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }),
      container({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
    ],
    [
      "what is no pointer",
      pod({}),
      pod({ hostNetwork: false, hostPID: false, nodeName: "", tolerations: [], nodeSelector: {} }),
    ],
    [
      "zero of a probe",
      container({ livenessProbe: { timeoutSeconds: 0, initialDelaySeconds: 0 } }),
      container({
        livenessProbe: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
      }),
    ],
    [
      "the type of a host path",
      pod({ volumes: [{ name: "t", hostPath: { path: "/x" } }] }),
      pod({ volumes: [{ name: "t", hostPath: { path: "/x", type: "" } }] }),
    ],
    [
      "order of variables and volumes",
      container({
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ],
      }),
      container({
        env: [
          { name: "B", value: "2" },
          { name: "A", value: "1" },
        ],
      }),
    ],
    [
      "a volume without a source",
      pod({ volumes: [{ name: "v" }] }),
      pod({ volumes: [{ name: "v", emptyDir: {} }] }),
    ],
    [
      "a port of the node that is the container's on its network",
      pod({
        hostNetwork: true,
        initContainers: [{ name: "i" }],
        containers: [{ name: "c", ports: [{ containerPort: 80 }] }],
      }),
      pod({
        hostNetwork: true,
        initContainers: [{ name: "i" }],
        containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }],
      }),
    ],
    ["null", pod({ affinity: null }), pod({})],
    ["an empty affinity", pod({}), pod({ affinity: { nodeAffinity: {} } })],
  ])("CORE-323 %s is none", (_what, a, b) => {
    expect(templateDifference(a, b)).toBeUndefined();
  });

  it.each([
    [
      "automountServiceAccountToken",
      pod({}),
      pod({ automountServiceAccountToken: false }),
      "spec.automountServiceAccountToken",
    ],
    [
      "an account where there was none",
      pod({ serviceAccountName: "a", serviceAccount: "a" }),
      pod({}),
      "spec.serviceAccountName",
    ],
    [
      "an account that goes",
      pod({}),
      pod({ serviceAccountName: "a", serviceAccount: "a" }),
      "spec.serviceAccount",
    ],
    [
      "a port of the node with the container's number",
      container({ ports: [{ containerPort: 80, hostPort: 80 }] }),
      container({ ports: [{ containerPort: 80 }] }),
      "spec.containers.a.ports.0.hostPort",
    ],
    [
      "terminationGracePeriodSeconds",
      pod({}),
      pod({ terminationGracePeriodSeconds: 0 }),
      "spec.terminationGracePeriodSeconds",
    ],
    [
      "tolerationSeconds",
      pod({ tolerations: [{ key: "k" }] }),
      pod({ tolerations: [{ key: "k", tolerationSeconds: 0 }] }),
      "spec.tolerations.0.tolerationSeconds",
    ],
    [
      "runAsUser",
      container({}),
      container({ securityContext: { runAsUser: 0 } }),
      "spec.containers.a.securityContext",
    ],
    [
      "a selector of all",
      pod({ topologySpreadConstraints: [{ topologyKey: "z" }] }),
      pod({ topologySpreadConstraints: [{ topologyKey: "z", labelSelector: {} }] }),
      "spec.topologySpreadConstraints.0.labelSelector",
    ],
    [
      "another kind of volume",
      pod({ volumes: [{ name: "v", emptyDir: {} }] }),
      pod({ volumes: [{ name: "v", hostPath: { path: "/x" } }] }),
      "spec.volumes.v.",
    ],
    ["an empty label", pod({ nodeSelector: { a: "" } }), pod({ nodeSelector: {} }), "spec.nodeSelector"],
    [
      "order of init containers",
      pod({ initContainers: [{ name: "x" }, { name: "y" }] }),
      pod({ initContainers: [{ name: "y" }, { name: "x" }] }),
      "spec.initContainers.",
    ],
    [
      "order of variables that refer to others",
      container({
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "$(A)" },
        ],
      }),
      container({
        env: [
          { name: "B", value: "$(A)" },
          { name: "A", value: "1" },
        ],
      }),
      "spec.containers.a.env.",
    ],
    ["a field that the schema does not have", pod({ hostNetwrok: true }), pod({}), "spec.hostNetwrok"],
    ["a variable more", container({ env: [] }), container({ env: [{ name: "A" }] }), "spec.containers.a.env"],
  ])("CORE-324 %s is one, both ways", (_what, a, b, path) => {
    for (const found of both(a, b)) expect(found).toContain(path);
  });

  it("CORE-323 compares claims and Services too", () => {
    const claim = (spec: object) => ({ metadata: { name: "d" }, spec });
    const requests = (storage: string) => ({
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage } },
    });
    expect(
      difference(
        "PersistentVolumeClaim",
        claim(requests("1024Mi")),
        claim({ ...requests("1Gi"), volumeMode: "Filesystem" }),
      ),
    ).toBeUndefined();
    expect(difference("PersistentVolumeClaim", claim({ storageClassName: "" }), claim({}))).toBe(
      "spec.storageClassName",
    );
  });

  it("CORE-324 knows the pointers of every type that a workload uses", () => {
    expect(isPointer("PodSpec", "automountServiceAccountToken")).toBe(true);
    expect(isPointer("PodSpec", "hostNetwork")).toBe(false);
    // Embedded structs count: their fields are the outer one's.
    expect(isPointer("Volume", "emptyDir")).toBe(true);
    expect(isPointer("Probe", "httpGet")).toBe(true);
    for (const line of POINTER_FIELDS) {
      const [type, ...fields] = line.split(" ");
      const known = BUILT_IN.types.get(type!);
      expect(
        fields.filter((field) => known?.get(field) === undefined),
        type,
      ).toEqual([]);
    }
  });

  it("CORE-326 a field nested deep, and long lists, cost no stack and no square of their length", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    expect(templateDifference(pod({ unknown: deep }), pod({ unknown: {} }))).toBe("spec.unknown");
    const many = Array.from({ length: 50_000 }, (_, index) => ({ name: `V${index}`, value: "x" }));
    expect(both(container({ env: many }), container({ env: many.toReversed() }))).toEqual(SAME);
    expect(
      difference("PodSpec", { overhead: { cpu: "1".repeat(1_000_000) } }, { overhead: { cpu: "1" } }),
    ).toBe("overhead.cpu");
  });
});
