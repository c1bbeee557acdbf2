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

{{- /* Values of a controller with its defaults, as JSON: dict "root" . "key" "…". */ -}}
{{- define "quartet.controller" -}}
{{- $fact := index (.root.Files.Get "files/controllers.yaml" | fromYaml) .key }}
{{- $values := default dict (index .root.Values.controllers .key) }}
{{- $all := dict }}
{{- range $name, $default := $fact.defaults }}
{{- $_ := set $all $name (ternary (index $values $name) $default (hasKey $values $name)) }}
{{- end }}
{{- $all | toJson }}
{{- end }}

{{- /* Names of the enabled controllers, as JSON. */ -}}
{{- define "quartet.enabled" -}}
{{- $enabled := list }}
{{- range $key := keys (.Files.Get "files/controllers.yaml" | fromYaml) | sortAlpha }}
{{- if (include "quartet.controller" (dict "root" $ "key" $key) | fromJson).enabled }}
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

{{- /* Secret with the webhook's serving certificate, for the modes in which others provide it. */ -}}
{{- define "quartet.webhookSecret" -}}
{{- if eq .Values.webhook.certMode "cert-manager" -}}
{{ include "quartet.fullname" . }}-webhook-tls
{{- else -}}
{{ required "webhook.certSecret is needed with webhook.certMode=files" .Values.webhook.certSecret }}
{{- end }}
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
{{- range $part := index $file.conditional $key }}
{{- if include "quartet.holds" (dict "root" $root "controller" $key "part" $part) }}
{{- $rules = concat $rules (index $part $place) }}
{{- end }}
{{- end }}
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

{{- /* "true" unless the part depends on a value of its controller that is another one. */ -}}
{{- define "quartet.holds" -}}
{{- if not .part.value }}true
{{- else if has (index (include "quartet.controller" (dict "root" .root "key" .controller) | fromJson) .part.value) .part.is }}true
{{- end }}
{{- end }}

{{- /* Webhooks of one type (mutating or validating) of the enabled controllers, as JSON: dict "root" . "type" "…". */ -}}
{{- define "quartet.webhooks" -}}
{{- $root := .root }}
{{- $type := .type }}
{{- $text := $root.Files.Get "files/webhooks.yaml" | replace "__RELEASE__" (include "quartet.fullname" $root) | replace "__NAMESPACE__" $root.Release.Namespace }}
{{- $file := $text | fromYaml }}
{{- $hooks := list }}
{{- range $key := include "quartet.enabled" $root | fromJsonArray }}
{{- range $part := index $file $key $type }}
{{- if include "quartet.holds" (dict "root" $root "controller" $key "part" $part) }}
{{- $entry := $part.entry }}
{{- if and $root.Values.watchNamespaces (eq (index $entry.rules 0).scope "Namespaced") }}
{{- $selector := default dict $entry.namespaceSelector }}
{{- $within := dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" ($root.Values.watchNamespaces | uniq) }}
{{- $_ := set $selector "matchExpressions" (append (default list $selector.matchExpressions) $within) }}
{{- $_ := set $entry "namespaceSelector" $selector }}
{{- end }}
{{- with $root.Values.webhook.failurePolicy }}
{{- $_ := set $entry "failurePolicy" . }}
{{- end }}
{{- $hooks = append $hooks $entry }}
{{- end }}
{{- end }}
{{- end }}
{{- $hooks | toJson }}
{{- end }}

{{- /* Where cert-manager finds the CA of the webhook's certificate, as an annotation. */ -}}
{{- define "quartet.injectionAnnotation" -}}
{{ dict "cert-manager.io/inject-ca-from" (printf "%s/%s-webhook" .Release.Namespace (include "quartet.fullname" .)) | toJson }}
{{- end }}

{{- /* Annotations of a CRD: dict "root" . "converted" true for one whose objects the webhook converts. */ -}}
{{- define "quartet.crdAnnotations" }}
{{- $annotations := dict }}
{{- if .root.Values.crds.keep }}
{{- $_ := set $annotations "helm.sh/resource-policy" "keep" }}
{{- end }}
{{- if and .converted (eq .root.Values.webhook.certMode "cert-manager") }}
{{- $annotations = merge $annotations (include "quartet.injectionAnnotation" .root | fromJson) }}
{{- end }}
{{- if $annotations }}
  annotations:
    {{- toYaml $annotations | nindent 4 }}
{{- end }}
{{- end }}

{{- /* Conversion by the webhook, for a CRD of several versions. */ -}}
{{- define "quartet.crdConversion" }}
{{- if ne (include "quartet.hooks" .) "true" }}
{{- fail "webhook.enabled=false leaves objects of several versions unconverted: enable it, or disable their controller" }}
{{- end }}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service:
          namespace: {{ .Release.Namespace }}
          name: {{ include "quartet.fullname" . }}-webhook
          path: /convert
          port: 443
{{- end }}

{{/* How a scraper verifies the metrics: by the Secret of the certificate. One that is made at each start has no CA. */}}
{{- define "quartet.metricsTls" -}}
{{- if .Values.metrics.certSecret -}}
ca:
  secret:
    name: {{ .Values.metrics.certSecret }}
    key: ca.crt
serverName: {{ include "quartet.fullname" . }}-metrics.{{ .Release.Namespace }}.svc
{{- else -}}
insecureSkipVerify: true
{{- end -}}
{{- end }}
