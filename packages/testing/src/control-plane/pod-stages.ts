/** Pods: from Pending to ready, through in-place updates, to their end. */
import {
  ALIVE,
  annotation,
  exists,
  FAILING_IMAGE_TAG,
  isMissing,
  isOneOf,
  isTrue,
  type Stage,
  TEST_ANNOTATIONS,
} from "./stage.ts";

/** Reasons in the condition ContainersReady; the message holds the time of readiness, or the value of the hold. */
const REASON_DELAY = "TestReadyDelay";
const REASON_HOLD = "TestHold";
const { readyDelay, hold, fail, runTime, deleteDelay } = TEST_ANNOTATIONS;

/**
 * Time from the deletion of a pod to its end, in milliseconds. kwok deletes by name alone, once for each change that it
 * saw; a wait makes one deletion of them, where a second one would hit the pod's successor.
 */
const DELETE_MS = 200;

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

/** The annotation, or the image that asks for a failure; nothing when neither is there. */
const FAILURE = `${annotation(fail)} // ([.spec.containers[]?.image | select(endswith(":${FAILING_IMAGE_TAG}"))][0])`;
const NOT_FAILED = isMissing(FAILURE);

export const POD_STAGES: readonly Stage[] = [
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
    when: [ALIVE, exists(FAILURE), isOneOf(".status.phase", "Pending", "Running")],
    next: {
      statusTemplate: finished(
        "Failed",
        1,
        "Error",
        `reason: {{ or (index $annotations "${fail}") "TestFailImage" | Quote }}`,
      ),
    },
  },
  {
    name: "pod-delete",
    kind: "Pod",
    when: [exists(".metadata.deletionTimestamp"), isMissing(".metadata.finalizers[]?")],
    delayFrom: annotation(deleteDelay),
    delay: { durationMilliseconds: DELETE_MS },
    next: { delete: true },
  },
];
