/**
 * How kwok plays kubelet: stages of our own.
 *
 * A pod on a kwok node runs and gets ready at once. Unlike kwok's published stages these leave readiness gates to
 * whoever owns them, compute Ready from the gates as a kubelet does, follow in-place updates, and leave pods with
 * finalizers alone. Annotations steer a pod or node in a test.
 */
import { stringify } from "yaml";

/** Annotations that tests put on pods (in a template too) and nodes. */
export const TEST_ANNOTATIONS = {
  /** Pod: Go duration, such as `1.5s`, between running and ready. */
  readyDelay: "quartet.io/test-ready-delay",
  /**
   * Pod: not ready as long as it is there. `"true"`: the containers run unready; another value, such as
   * `CrashLoopBackOff`, is the reason why they wait.
   */
  hold: "quartet.io/test-hold",
  /** Pod: fails with this value as reason. */
  fail: "quartet.io/test-fail",
  /** Pod of a Job: Go duration from ready to Succeeded. */
  runTime: "quartet.io/test-run-time",
  /** Pod: Go duration between the deletion's request and the end of the pod. */
  deleteDelay: "quartet.io/test-delete-delay",
  /** Node: `"true"` keeps it NotReady. */
  nodeNotReady: "quartet.io/test-not-ready",
} as const;

/** Heartbeat of a node's status; the lease is what keeps it alive. */
const HEARTBEAT_MS = 600_000;
const HEARTBEAT_JITTER_MS = 610_000;
/** Reasons in the condition ContainersReady; the message holds the time of readiness, or the value of the hold. */
const REASON_DELAY = "TestReadyDelay";
const REASON_HOLD = "TestHold";
/** Size of a node that names none. */
const NODE_RESOURCES = "{cpu: 1k, memory: 1Ti, pods: 1M}";

const { readyDelay, hold, fail, runTime, deleteDelay, nodeNotReady } = TEST_ANNOTATIONS;
const annotation = (name: string): string => `.metadata.annotations["${name}"]`;

interface Expression {
  key: string;
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  values?: string[];
}

const isTrue = (key: string): Expression => ({ key, operator: "In", values: ["true"] });
const isNotTrue = (key: string): Expression => ({ key, operator: "NotIn", values: ["true"] });
const isOneOf = (key: string, ...values: string[]): Expression => ({ key, operator: "In", values });
const exists = (key: string): Expression => ({ key, operator: "Exists" });
const isMissing = (key: string): Expression => ({ key, operator: "DoesNotExist" });
const ALIVE = isMissing(".metadata.deletionTimestamp");

interface Stage {
  name: string;
  kind: "Node" | "Pod";
  when: Expression[];
  /** jq expression of a Go duration or of a time; nothing means at once. */
  delayFrom?: string;
  delay?: { durationMilliseconds: number; jitterDurationMilliseconds: number };
  next: { statusTemplate: string } | { delete: true };
}

/** Text of kwok's configuration file: stages alone, since a `KwokConfiguration` would replace all defaults. */
export function kwokConfig(): string {
  return [...NODE_STAGES, ...POD_STAGES].map((stage) => stringify(stageDocument(stage))).join("---\n");
}

function stageDocument(stage: Stage): object {
  const delay = {
    ...stage.delay,
    ...(stage.delayFrom === undefined ? {} : { durationFrom: { expressionFrom: stage.delayFrom } }),
  };
  return {
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind: "Stage",
    metadata: { name: stage.name },
    spec: {
      resourceRef: { apiGroup: "v1", kind: stage.kind },
      selector: { matchExpressions: stage.when },
      ...(Object.keys(delay).length > 0 ? { delay } : {}),
      next: stage.next,
    },
  };
}

// ---- nodes

const NODE_READY = '.status.conditions[]? | select(.type == "Ready") | .status';

/** Conditions of a node; `ready` is the template expression for the status of Ready. */
const nodeConditions = (ready: string): string => `
{{ $now := Now }}
{{ $before := dict }}
{{ range .status.conditions }}{{ $_ := set $before .type . }}{{ end }}
conditions:
{{ range NodeConditions }}
{{ $status := .status }}
{{ if eq .type "Ready" }}{{ $status = ${ready} }}{{ end }}
{{ $since := $now }}
{{ with index $before .type }}{{ if eq .status $status }}{{ $since = .lastTransitionTime }}{{ end }}{{ end }}
- type: {{ .type }}
  status: {{ $status | Quote }}
  reason: {{ if and (eq .type "Ready") (ne $status "True") }}KubeletNotReady{{ else }}{{ .reason }}{{ end }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $since | Quote }}
{{ end }}
`;

const NODE_IDENTITY = `
phase: Running
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ .metadata.name | Quote }}}
{{ $size := or .status.capacity .status.allocatable }}
capacity: {{ if $size }}{{ toJson $size }}{{ else }}${NODE_RESOURCES}{{ end }}
allocatable: {{ if .status.allocatable }}{{ toJson .status.allocatable }}{{ else if $size }}{{ toJson $size }}{{ else }}${NODE_RESOURCES}{{ end }}
{{ $kwok := printf "kwok-%s" Version }}
{{ $info := or .status.nodeInfo dict }}
nodeInfo:
  architecture: {{ or $info.architecture "amd64" | Quote }}
  bootID: {{ or $info.bootID "" | Quote }}
  containerRuntimeVersion: {{ or $info.containerRuntimeVersion $kwok | Quote }}
  kernelVersion: {{ or $info.kernelVersion $kwok | Quote }}
  kubeProxyVersion: {{ or $info.kubeProxyVersion $kwok | Quote }}
  kubeletVersion: {{ or $info.kubeletVersion $kwok | Quote }}
  machineID: {{ or $info.machineID "" | Quote }}
  operatingSystem: {{ or $info.operatingSystem "linux" | Quote }}
  osImage: {{ or $info.osImage "" | Quote }}
  systemUUID: {{ or $info.systemUUID "" | Quote }}
`;

const NODE_STAGES: readonly Stage[] = [
  {
    name: "node-initialize",
    kind: "Node",
    when: [
      ALIVE,
      isNotTrue(annotation(nodeNotReady)),
      { key: NODE_READY, operator: "NotIn", values: ["True"] },
    ],
    next: { statusTemplate: nodeConditions('"True"') + NODE_IDENTITY },
  },
  {
    name: "node-not-ready",
    kind: "Node",
    when: [
      ALIVE,
      isTrue(annotation(nodeNotReady)),
      { key: NODE_READY, operator: "NotIn", values: ["False"] },
    ],
    next: { statusTemplate: nodeConditions('"False"') + NODE_IDENTITY },
  },
  {
    name: "node-heartbeat-with-lease",
    kind: "Node",
    when: [ALIVE, isNotTrue(annotation(nodeNotReady)), isOneOf(NODE_READY, "True")],
    delay: { durationMilliseconds: HEARTBEAT_MS, jitterDurationMilliseconds: HEARTBEAT_JITTER_MS },
    next: { statusTemplate: nodeConditions('"True"') },
  },
];

// ---- pods

const CONTAINERS_READY = '[.status.conditions[]? | select(.type == "ContainersReady")][0] // {}';

/** True when the status of a running pod is not what a kubelet would make of its spec, gates and annotations. */
const OUT_OF_DATE = `
. as $pod
| (${annotation(hold)} // "") as $hold
| (${CONTAINERS_READY}) as $containers
| ([.status.conditions[]? | select(.type == "Ready") | .status][0] // "False") as $ready
| ([.spec.readinessGates[]?.conditionType as $gate
    | any($pod.status.conditions[]?; .type == $gate and .status == "True")] | all) as $gates
| (if $hold == "" then $containers.status == "True"
   else $containers.status == "False" and $containers.reason == "${REASON_HOLD}" and $containers.message == $hold
   end) as $containersDone
| ($ready == (if $hold == "" and $gates then "True" else "False" end)) as $readyDone
| ([.spec.containers[] as $container
    | any($pod.status.containerStatuses[]?; .name == $container.name and .image == $container.image)] | all) as $imagesDone
| ($containersDone and $readyDone and $imagesDone and .metadata.generation == .status.observedGeneration) | not`;

/** The time at which a delayed pod gets ready; nothing while it is held, or without a delay. */
const READY_TIME = `if (${annotation(hold)} // "") != "" then ""
else (${CONTAINERS_READY}) | if .reason == "${REASON_DELAY}" then .message else "" end end`;

/** Decides about readiness. `delay` is the delay to start now, a Go duration or empty. */
const readiness = (delay: string): string => `
{{ $now := Now }}
{{ $annotations := or .metadata.annotations dict }}
{{ $hold := or (index $annotations "${hold}") "" }}
{{ $delay := ${delay} }}
{{ $before := dict }}
{{ range .status.conditions }}{{ $_ := set $before .type . }}{{ end }}
{{ $old := dict }}
{{ range .status.containerStatuses }}{{ $_ := set $old .name . }}{{ end }}
{{ $reason := "" }}{{ $message := "" }}
{{ if $hold }}{{ $reason = "${REASON_HOLD}" }}{{ $message = $hold }}
{{ else if $delay }}{{ $reason = "${REASON_DELAY}" }}
{{ $message = now | dateModify (printf "+%s" $delay) | date "2006-01-02T15:04:05.000Z07:00" }}{{ end }}
{{ $containersReady := eq $reason "" }}
{{ $ready := $containersReady }}
{{ $readyReason := "" }}
{{ if not $ready }}{{ $readyReason = "ContainersNotReady" }}{{ end }}
{{ range .spec.readinessGates }}
{{ $gate := or (index $before .conditionType) dict }}
{{ if and $ready (ne (or $gate.status "") "True") }}{{ $ready = false }}{{ $readyReason = "ReadinessGatesNotReady" }}{{ end }}
{{ end }}
`;

/** One condition; its transition time stays while the status stays. */
const condition = (type: string, status: string, reason = '""', message = '""'): string => `
{{ $status := ${status} }}
{{ $since := $now }}
{{ with index $before "${type}" }}{{ if eq .status $status }}{{ $since = .lastTransitionTime }}{{ end }}{{ end }}
- type: ${type}
  status: {{ $status | Quote }}
  reason: {{ ${reason} | Quote }}
  message: {{ ${message} | Quote }}
  lastProbeTime: null
  lastTransitionTime: {{ $since | Quote }}
`;

const truth = (variable: string): string => `(ternary "True" "False" ${variable})`;

const CONDITIONS = `
conditions:
${condition("PodReadyToStartContainers", '"True"')}
${condition("Initialized", '"True"')}
${condition("ContainersReady", truth("$containersReady"), "$reason", "$message")}
${condition("Ready", truth("$ready"), "$readyReason")}
`;

/** Containers run, or wait for the reason that the hold names; one whose image changed has been restarted. */
const CONTAINERS = `
containerStatuses:
{{ range .spec.containers }}
{{ $was := or (index $old .name) dict }}
{{ $restarts := int (or $was.restartCount 0) }}
{{ $startedAt := $now }}
{{ if and $was.image (ne $was.image .image) }}{{ $restarts = add $restarts 1 }}
{{ else if $was.state }}{{ with $was.state.running }}{{ $startedAt = .startedAt }}{{ end }}{{ end }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ printf "%s@sha256:%s" .image (sha256sum .image) | Quote }}
  containerID: {{ printf "kwok://%s" (printf "%s/%s/%d" $.metadata.uid .name (int $restarts) | sha256sum) | Quote }}
  restartCount: {{ $restarts }}
  ready: {{ $containersReady }}
  {{ if and $hold (ne $hold "true") }}
  started: false
  state: {running: null, waiting: {reason: {{ $hold | Quote }}, message: test}}
  {{ else }}
  started: true
  state: {waiting: null, running: {startedAt: {{ $startedAt | Quote }}}}
  {{ end }}
{{ end }}
`;

/** Init containers have done their work before the pod runs; sidecars run. */
const INIT_CONTAINERS = `
{{ with .spec.initContainers }}
initContainerStatuses:
{{ range . }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ printf "%s@sha256:%s" .image (sha256sum .image) | Quote }}
  restartCount: 0
  ready: true
  {{ if eq (or .restartPolicy "") "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  started: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
{{ end }}
`;

const ADDRESSES = `
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
hostIPs: [{{ range $i, $ip := . }}{{ if $i }}, {{ end }}{ip: {{ $ip | Quote }}}{{ end }}]
{{ end }}
{{ with PodIPsWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace }}
podIP: {{ index . 0 | Quote }}
podIPs: [{{ range $i, $ip := . }}{{ if $i }}, {{ end }}{ip: {{ $ip | Quote }}}{{ end }}]
{{ end }}
`;

const GENERATION = `
{{ with .metadata.generation }}observedGeneration: {{ . }}{{ end }}
`;

/** The pod is over: `phase` and how its containers ended. */
const finished = (phase: string, exitCode: number, reason: string, extra: string): string => `
{{ $now := Now }}
{{ $annotations := or .metadata.annotations dict }}
{{ $before := dict }}
{{ range .status.conditions }}{{ $_ := set $before .type . }}{{ end }}
{{ $old := dict }}
{{ range .status.containerStatuses }}{{ $_ := set $old .name . }}{{ end }}
phase: ${phase}
${extra}
conditions:
${condition("ContainersReady", '"False"', `"Pod${phase}"`)}
${condition("Ready", '"False"', `"Pod${phase}"`)}
containerStatuses:
{{ range .spec.containers }}
{{ $was := or (index $old .name) dict }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ or $was.imageID "" | Quote }}
  restartCount: {{ or $was.restartCount 0 }}
  ready: false
  started: false
  state:
    waiting: null
    running: null
    terminated: {exitCode: ${exitCode}, reason: ${reason}, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}
{{ end }}
`;

const NOT_FAILED = isMissing(annotation(fail));

const POD_STAGES: readonly Stage[] = [
  {
    name: "pod-start",
    kind: "Pod",
    when: [ALIVE, NOT_FAILED, isOneOf(".status.phase", "Pending")],
    next: {
      statusTemplate: `${readiness(`or (index $annotations "${readyDelay}") ""`)}
phase: Running
startTime: {{ $now | Quote }}
${GENERATION}${CONDITIONS}${CONTAINERS}${INIT_CONTAINERS}${ADDRESSES}`,
    },
  },
  {
    name: "pod-ready",
    kind: "Pod",
    when: [ALIVE, NOT_FAILED, isOneOf(".status.phase", "Running"), isTrue(OUT_OF_DATE)],
    delayFrom: READY_TIME,
    next: { statusTemplate: readiness('""') + GENERATION + CONDITIONS + CONTAINERS },
  },
  {
    name: "pod-complete",
    kind: "Pod",
    when: [
      ALIVE,
      NOT_FAILED,
      isOneOf(".status.phase", "Running"),
      isOneOf(".metadata.ownerReferences[]?.kind", "Job"),
      isOneOf('.status.conditions[]? | select(.type == "ContainersReady") | .status', "True"),
    ],
    delayFrom: annotation(runTime),
    next: { statusTemplate: finished("Succeeded", 0, "Completed", "") },
  },
  {
    name: "pod-fail",
    kind: "Pod",
    when: [ALIVE, exists(annotation(fail)), isOneOf(".status.phase", "Pending", "Running")],
    next: {
      statusTemplate: finished("Failed", 1, "Error", `reason: {{ index $annotations "${fail}" | Quote }}`),
    },
  },
  {
    name: "pod-delete",
    kind: "Pod",
    when: [exists(".metadata.deletionTimestamp"), isMissing(".metadata.finalizers[]?")],
    delayFrom: annotation(deleteDelay),
    next: { delete: true },
  },
];
