import type { JsonMap, StatefulSet } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import type { Nacos } from "../api.gen.ts";
import {
  clusterOf,
  MERGED,
  NONE,
  nacos,
  nacosContainerOf,
  peerAdoptions,
  stored,
} from "../fixtures.testkit.ts";
import { canonicalJson } from "./digest.ts";
import { fixedLabels } from "./names.ts";
import { settingsOf } from "./settings.ts";
import { newStatefulSet, type StatefulSetUpdate, updatedStatefulSet } from "./statefulset.ts";
import { type MountedConfig, mountedConfig } from "./volumes.ts";

const create = (resource: Nacos, config: MountedConfig = MERGED): StatefulSet =>
  newStatefulSet(settingsOf(resource), config);
const update = (resource: Nacos, live: StatefulSet, config: MountedConfig = MERGED): StatefulSetUpdate =>
  updatedStatefulSet(settingsOf(resource), config, live);

/** As Kubernetes 1.37 stores it: with its defaults, quantities in canonical form, empty maps left out. */
function live(created: StatefulSet): StatefulSet {
  const copy = stored(created, { generation: 1 });
  const template = copy.spec.template;
  Object.assign(template.spec, {
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  for (const container of template.spec.containers) {
    Object.assign(container, {
      imagePullPolicy: "IfNotPresent",
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      resources: container.resources ?? {},
    });
    for (const probe of [container.livenessProbe, container.readinessProbe]) {
      if (probe !== undefined) Object.assign(probe, { timeoutSeconds: 1, successThreshold: 1, ...probe });
    }
    for (const variable of container.env ?? []) if (variable.value === "") delete variable.value;
  }
  for (const volume of template.spec.volumes ?? []) {
    if (volume.configMap) Object.assign(volume.configMap, { defaultMode: 420 });
  }
  Object.assign(copy.spec, {
    revisionHistoryLimit: 10,
    serviceName: copy.spec.serviceName ?? "",
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0, maxUnavailable: 1 } },
  });
  return copy;
}

/** A live StatefulSet with an edit. */
function edited(resource: Nacos, edit: (live: StatefulSet) => void): StatefulSet {
  const copy = live(create(resource));
  edit(copy);
  return copy;
}

describe("StatefulSet", () => {
  it("NACOS-401 is created for parallel pods that must stay ready for ten seconds, with a headless Service in a cluster", () => {
    expect(create(clusterOf()).spec).toMatchObject({
      podManagementPolicy: "Parallel",
      replicas: 3,
      serviceName: "demo-headless",
      minReadySeconds: 10,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      selector: { matchLabels: { app: "demo", middleware: "nacos", component: "nacos" } },
    });
    expect(create(nacos()).spec).not.toHaveProperty("serviceName");
    expect(canonicalJson(create(clusterOf()))).not.toContain("lifecycle");
  });

  it("NACOS-204 NACOS-211 NACOS-407 changes nothing in what the API server stored, defaults and all", () => {
    const resources = [
      clusterOf({ resources: { requests: { memory: "1024Mi" } }, env: [{ name: "E", value: "" }] }),
      nacos({ k8sWrapper: { PodSpec: { hostNetwork: false, containers: [{ name: "demo", tty: false }] } } }),
      nacos({
        volume: { volumeClaimTemplate: { spec: { storageClassName: "fast" } }, persistentVolumeSize: "1Gi" },
      }),
    ];
    for (const resource of resources) {
      const found = live(create(resource));
      const { requests } = (nacosContainerOf(found.spec.template).resources ?? {}) as { requests?: JsonMap };
      if (requests) requests.memory = "1Gi";
      expect(update(resource, found)).toMatchObject({ changed: false, replicasChanged: false, drift: false });
    }
  });

  it("NACOS-407 takes no order of lists by name for a change", () => {
    const turned = edited(clusterOf(), ({ spec }) => {
      const container = nacosContainerOf(spec.template);
      container.env?.reverse();
      container.ports?.reverse();
    });
    expect(update(clusterOf(), turned).changed).toBe(false);
  });

  it("NACOS-407 takes no order of tolerations for a change, but each of their fields", () => {
    const tolerations = [{ key: "a", effect: "NoSchedule" }, { key: "a" }, { key: "b", operator: "Exists" }];
    const found = live(create(nacos({ tolerations })));
    expect(update(nacos({ tolerations: tolerations.toReversed() }), found).changed).toBe(false);
    const patient = [...tolerations.slice(1), { ...tolerations[0], tolerationSeconds: 5 }];
    expect(update(nacos({ tolerations: patient }), found).templateChange).toBe(
      "spec.tolerations.2.tolerationSeconds",
    );
  });

  it("NACOS-204 NACOS-407 is at rest with several elements of one key, in order of their appearance", () => {
    const ports = [
      { name: "http", containerPort: 8848 },
      { name: "raft", containerPort: 9849 },
    ];
    const side = (second: string): JsonMap => ({
      name: "side",
      image: "busybox:1",
      env: [
        { name: "X", value: "1" },
        { name: "X", value: second },
      ],
    });
    const resource = (second: string): Nacos =>
      nacos({ k8sWrapper: { PodSpec: { containers: [{ name: "demo", ports }, side(second)] } } });
    const found = live(create(resource("2")));
    expect(update(resource("2"), found)).toMatchObject({ changed: false, drift: false });
    expect(update(resource("3"), found).templateChange).toBe("spec.containers.side.env.X.value");
  });

  it("NACOS-204 NACOS-407 knows quantities and defaults wherever the server rewrites them", () => {
    const fieldRef = { fieldPath: "metadata.labels" };
    const divisor = (value: unknown): JsonMap => ({ resource: "limits.memory", divisor: value });
    const volumes = (size: string, field: JsonMap): JsonMap[] => [
      { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: size } },
      { name: "info", downwardAPI: { items: [{ path: "labels", fieldRef: field }] } },
      {
        name: "all",
        projected: { sources: [{ downwardAPI: { items: [{ path: "labels", fieldRef: field }] } }] },
      },
      {
        name: "own",
        ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: size } } } } },
      },
    ];
    const resource = nacos({
      env: [{ name: "MEMORY", valueFrom: { resourceFieldRef: divisor("1024Ki") } }],
      k8sWrapper: { PodSpec: { volumes: volumes("1024Mi", fieldRef) } },
    });
    const found = edited(resource, ({ spec }) => {
      const config = spec.template.spec.volumes!.filter(({ name }) => name === "config");
      const rewritten = volumes("1Gi", { apiVersion: "v1", ...fieldRef });
      spec.template.spec.volumes = [...config, ...rewritten] as typeof config;
      const variable = nacosContainerOf(spec.template).env!.find(({ name }) => name === "MEMORY")!;
      variable.valueFrom = { resourceFieldRef: divisor("1Mi") };
    });
    expect(update(resource, found)).toMatchObject({ changed: false, drift: false });
  });

  it.each<[what: string, spec: JsonMap, path: string]>([
    ["image", { image: "nacos/nacos-server:v2.5.0" }, "spec.containers.demo.image"],
    ["probe", { livenessProbe: { tcpSocket: { port: 1 } } }, "spec.containers.demo.livenessProbe"],
    ["toleration", { tolerations: [{ key: "k" }] }, "spec.tolerations"],
    ["pull secret", { imagePullSecrets: [{ name: "p" }] }, "spec.imagePullSecrets"],
    ["limit", { resources: { limits: { cpu: "2" } } }, "spec.containers.demo.resources"],
    ["wrapper", { k8sWrapper: { PodSpec: { priorityClassName: "vip" } } }, "spec.priorityClassName"],
  ])("NACOS-406 NACOS-409 sees a changed %s alone, and its removal", (_what, spec, path) => {
    const before = clusterOf();
    const after = clusterOf(spec);
    expect(update(after, live(create(before))).templateChange).toMatch(new RegExp(`^${path}`));
    expect(update(before, live(create(after))).templateChange).toMatch(new RegExp(`^${path}`));
    expect(update(after, live(create(before))).drift).toBe(false);
  });

  it("NACOS-314 NACOS-406 changes the template for another digest, and back", () => {
    const other = { ...MERGED, digest: "a1c9ed99c7b3b5f4" } as MountedConfig;
    const { object, templateChange } = update(clusterOf(), live(create(clusterOf())), other);
    expect(templateChange).toBe("metadata.annotations.nacos.io/config-digest");
    expect(mountedConfig(object)).toEqual(other);
    const none = update(clusterOf(), live(create(clusterOf())), NONE).object.spec.template;
    expect(none.metadata.annotations).toEqual({});
    expect(none.spec).not.toHaveProperty("volumes");
  });

  it("NACOS-404 freezes the labels of the template and never selects by the resource's", () => {
    const labelled = clusterOf({}, { labels: { team: "a", app: "no" } });
    const created = create(labelled);
    expect(created.spec.selector.matchLabels).toEqual(fixedLabels("demo"));
    expect(created.spec.template.metadata.labels).toEqual({ ...fixedLabels("demo"), team: "a" });
    const relabelled = clusterOf({}, { labels: { team: "b" } });
    const { object, templateChange } = update(relabelled, live(created));
    expect(templateChange).toBeUndefined();
    expect(object.metadata.labels).toMatchObject({ team: "b", app: "demo" });
    expect(object.spec).toEqual(live(created).spec);
  });

  it("NACOS-408 keeps annotations of others on the template, and kubectl's restart", () => {
    const restarted = edited(clusterOf(), ({ spec }) => {
      spec.template.metadata.annotations!["kubectl.kubernetes.io/restartedAt"] = "now";
    });
    expect(update(clusterOf(), restarted).changed).toBe(false);
    const next = update(clusterOf({ image: "x:1" }), restarted).object.spec.template.metadata;
    expect(next.annotations).toMatchObject({ "kubectl.kubernetes.io/restartedAt": "now" });
  });

  it.each<[what: string, edit: (live: StatefulSet) => void]>([
    [
      "image",
      ({ spec }) => {
        nacosContainerOf(spec.template).image = "x";
      },
    ],
    ["variable", ({ spec }) => nacosContainerOf(spec.template).env?.push({ name: "X", value: "1" })],
    ["sidecar", ({ spec }) => spec.template.spec.containers.push({ name: "s", image: "s" })],
    [
      "host network",
      ({ spec }) => {
        spec.template.spec.hostNetwork = true;
      },
    ],
    [
      "grace period",
      ({ spec }) => {
        spec.template.spec.terminationGracePeriodSeconds = 5;
      },
    ],
  ])("NACOS-410 puts back a %s that was edited by hand, and says so", (_what, edit) => {
    const resource = clusterOf();
    const { object, changed, drift } = update(resource, edited(resource, edit));
    expect({ changed, drift }).toEqual({ changed: true, drift: true });
    expect(object.spec.template.spec).toEqual(create(resource).spec.template.spec);
  });

  it("NACOS-416 NACOS-412 restores the number of nodes, and rolls a cluster for another number alone", () => {
    const scaled = edited(nacos(), ({ spec }) => {
      spec.replicas = 0;
    });
    const { object, replicasChanged, templateChange } = update(nacos(), scaled);
    expect(object.spec.replicas).toBe(1);
    expect({ replicasChanged, templateChange }).toEqual({ replicasChanged: true, templateChange: undefined });
    const grown = update(clusterOf({ replicas: 5 }), live(create(clusterOf())));
    expect(grown).toMatchObject({ replicasChanged: true });
    expect(grown.templateChange).toMatch(/NACOS_REPLICAS|NACOS_SERVERS/);
  });

  it("NACOS-401 writes out the partition where it is missing, and leaves one that was set by hand", () => {
    const bare = edited(clusterOf(), ({ spec }) =>
      Object.assign(spec, { updateStrategy: { type: "RollingUpdate" } }),
    );
    expect(update(clusterOf(), bare)).toMatchObject({
      changed: true,
      object: { spec: { updateStrategy: { rollingUpdate: { partition: 0 } }, template: bare.spec.template } },
    });
    const byHand = edited(clusterOf(), ({ spec }) =>
      Object.assign(spec, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }),
    );
    expect(update(clusterOf(), byHand).changed).toBe(false);
  });

  it("NACOS-417 copies annotations of the resource but those that say how it was applied", () => {
    const annotations = {
      "example.org/team": "a",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
      "meta.helm.sh/release-name": "r",
      "argocd.argoproj.io/tracking-id": "t",
      "nacos.io/paused": "false",
    };
    const keys = Object.keys(create(clusterOf({}, { annotations })).metadata.annotations ?? {});
    expect(keys.sort()).toEqual([
      "example.org/team",
      "nacos.io/inherited",
      "nacos.io/last-applied",
      "nacos.io/template-revision",
    ]);
  });

  it("NACOS-1004 has claims deleted with the StatefulSet on request alone", () => {
    expect(create(nacos()).spec).not.toHaveProperty("persistentVolumeClaimRetentionPolicy");
    const wanted = { whenDeleted: "Delete", whenScaled: "Retain" };
    const resource = nacos({ volume: { deletePolicy: "Delete" } });
    expect(create(resource).spec.persistentVolumeClaimRetentionPolicy).toEqual(wanted);
    const { object } = update(resource, live(create(nacos())));
    expect(object.spec.persistentVolumeClaimRetentionPolicy).toEqual(wanted);
    const kept = update(nacos(), object).object.spec.persistentVolumeClaimRetentionPolicy;
    expect(kept).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
  });

  it("NACOS-212 leaves the template alone when its revision is unknown, and still scales", () => {
    const newer = edited(clusterOf(), ({ metadata }) => {
      metadata.annotations!["nacos.io/template-revision"] = "99";
    });
    const { object, templateChange } = update(clusterOf({ image: "x:1", replicas: 5 }), newer);
    expect(templateChange).toBeUndefined();
    expect(object.spec.replicas).toBe(5);
  });
});

describe("StatefulSet of the peer", () => {
  it.each(peerAdoptions())("NACOS-405 NACOS-414 is adopted by its metadata alone: $name", (row) => {
    const { resource, statefulSet } = row;
    const settings = settingsOf(resource);
    const first = updatedStatefulSet(settings, mountedConfig(statefulSet), statefulSet);
    expect(first.object.spec).toEqual(statefulSet.spec);
    expect(first.object.metadata.annotations).toMatchObject({ "nacos.io/template-revision": "peer" });
    const second = updatedStatefulSet(settings, mountedConfig(statefulSet), first.object);
    expect(second.changed).toBe(false);
  });

  it.each(peerAdoptions())("NACOS-405 carries changed inputs onto it and nothing else: $name", (row) => {
    const { resource, statefulSet } = row;
    const config = mountedConfig(statefulSet);
    const adopted = updatedStatefulSet(settingsOf(resource), config, statefulSet).object;
    const changed = structuredClone(resource);
    changed.spec!.image = "nacos/nacos-server:v2.4.9";
    changed.spec!.tolerations = [{ key: "new" }];
    const { object } = updatedStatefulSet(settingsOf(changed), config, adopted);
    const expected = structuredClone(statefulSet.spec.template);
    nacosContainerOf(expected, resource.metadata.name).image = "nacos/nacos-server:v2.4.9";
    expected.spec.tolerations = [{ key: "new" }];
    expect(object.spec.template.spec).toEqual(expected.spec);
    expect(object.spec.template.metadata.labels).toEqual(expected.metadata.labels);
    const back = updatedStatefulSet(settingsOf(resource), config, object).object;
    expect(back.spec.template.spec).toEqual(statefulSet.spec.template.spec);
  });

  it("NACOS-405 keeps duplicate variables, and changes the one that counts", () => {
    const wanting = (value: string): Nacos =>
      clusterOf({
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "b" },
          { name: "B", value: "c" },
          { name: "A", value },
        ],
      });
    const peers = structuredClone(create(wanting("2"), NONE));
    delete peers.metadata.annotations;
    const container = nacosContainerOf(peers.spec.template);
    container.env = [...wanting("2").spec!.env!, ...container.env!.slice(2)];
    const adopted = update(wanting("2"), peers, NONE).object;
    const { env } = nacosContainerOf(update(wanting("3"), adopted, NONE).object.spec.template);
    expect(env?.map(({ name, value }) => `${name}=${value}`).slice(0, 3)).toEqual(["A=3", "B=b", "B=c"]);
    expect(env?.filter(({ name }) => name === "A")).toHaveLength(1);
  });

  it("NACOS-405 follows a digest that changed while nobody looked, one pass after the adoption", () => {
    const { resource, statefulSet } = peerAdoptions().find(({ name }) => name === "merged cluster")!;
    const settings = settingsOf(resource);
    const before = mountedConfig(statefulSet) as Extract<MountedConfig, { mode: "merged" }>;
    const wanted: MountedConfig = { ...before, digest: "0123456789abcdef" };
    const first = updatedStatefulSet(settings, wanted, statefulSet);
    expect(first.object.spec).toEqual(statefulSet.spec);
    const second = updatedStatefulSet(settings, wanted, first.object);
    expect(mountedConfig(second.object)).toEqual(wanted);
  });

  it("NACOS-405 is regenerated once the resource asks for a revision", () => {
    const { resource, statefulSet } = peerAdoptions()[0]!;
    const asking = structuredClone(resource);
    asking.metadata.annotations = { "nacos.io/template-revision": "1" };
    const config = mountedConfig(statefulSet);
    const { object } = updatedStatefulSet(settingsOf(asking), config, statefulSet);
    expect(object.metadata.annotations).toMatchObject({ "nacos.io/template-revision": "1" });
    expect(nacosContainerOf(object.spec.template, resource.metadata.name)).toHaveProperty("readinessProbe");
    const unknown = structuredClone(resource);
    unknown.metadata.annotations = { "nacos.io/template-revision": "7" };
    const kept = updatedStatefulSet(settingsOf(unknown), config, statefulSet).object;
    expect(kept.spec).toEqual(statefulSet.spec);
  });
});
