/** Nodes: ready at once, with a heartbeat. */
import { ALIVE, annotation, isNotTrue, isOneOf, isTrue, type Stage, TEST_ANNOTATIONS } from "./stage.ts";

/** Heartbeat of a node's status; the lease is what keeps it alive. */
const HEARTBEAT_MS = 600_000;
const HEARTBEAT_JITTER_MS = 610_000;
/** Size of a node that names none. */
const NODE_RESOURCES = "{cpu: 1k, memory: 1Ti, pods: 1M}";

const { nodeNotReady } = TEST_ANNOTATIONS;

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

export const NODE_STAGES: readonly Stage[] = [
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
