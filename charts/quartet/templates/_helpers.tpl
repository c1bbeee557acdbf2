{{- define "quartet.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | replace "." "-" | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "quartet.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "quartet.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "quartet.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "quartet.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "quartet.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is needed with serviceAccount.create=false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "quartet.leaseName" -}}
{{ include "quartet.fullname" . }}-manager
{{- end }}

{{- define "quartet.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{- /* Names of the enabled controllers, as JSON. */ -}}
{{- define "quartet.enabled" -}}
{{- $enabled := list }}
{{- range $key := keys (.Files.Get "files/controllers.yaml" | fromYaml) | sortAlpha }}
{{- if (index $.Values.controllers $key).enabled }}
{{- $enabled = append $enabled $key }}
{{- end }}
{{- end }}
{{- if not $enabled }}
{{- fail "no controller is enabled: set controllers.<name>.enabled=true for one at least" }}
{{- end }}
{{- $enabled | toJson }}
{{- end }}

{{- /* "true" when the webhook server has something to serve. */ -}}
{{- define "quartet.hooks" -}}
{{- $facts := .Files.Get "files/controllers.yaml" | fromYaml }}
{{- $hooks := false }}
{{- range $key := include "quartet.enabled" . | fromJsonArray }}
{{- if (index $facts $key).hooks }}{{ $hooks = true }}{{ end }}
{{- end }}
{{- if and $hooks .Values.webhook.enabled }}true{{ end }}
{{- end }}

{{- /* Rules of the enabled parts for one place (own, work or cluster), as JSON: dict "root" . "place" "own". */ -}}
{{- define "quartet.rules" -}}
{{- $root := .root }}
{{- $place := .place }}
{{- $fullname := include "quartet.fullname" $root }}
{{- $file := $root.Files.Get "files/rbac.yaml" | replace "__RELEASE__" $fullname | replace "__LEASE__" (include "quartet.leaseName" $root) | fromYaml }}
{{- $rules := index $file.always $place }}
{{- if $root.Values.leaderElection.enabled }}
{{- $rules = concat $rules (index $file.leaderElection $place) }}
{{- end }}
{{- if and $root.Values.metrics.enabled $root.Values.metrics.secure }}
{{- $rules = concat $rules (index $file.metricsSecure $place) }}
{{- end }}
{{- $certificates := and (include "quartet.hooks" $root) (eq $root.Values.webhook.certMode "self") }}
{{- range $key := include "quartet.enabled" $root | fromJsonArray }}
{{- $rules = concat $rules (index $file.controllers $key $place) }}
{{- if $certificates }}
{{- $rules = concat $rules (index $file.webhooks $key $place) }}
{{- end }}
{{- end }}
{{- $rules | toJson }}
{{- end }}

{{- /* Role with its binding: dict "root" . "name" "…" "namespace" "…" "rules" list; cluster-wide without namespace. */ -}}
{{- define "quartet.role" -}}
{{- $prefix := ternary "" "Cluster" (ne .namespace "") }}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $prefix }}Role
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "quartet.labels" .root | nindent 4 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $prefix }}RoleBinding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "quartet.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $prefix }}Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "quartet.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
