{{- /*
Templates that both charts use. `python -m deploy.packaging` copies this file into each of them, because
Helm cannot read files outside a chart.
*/}}

{{/* Name of the program, for selectors. */}}
{{- define "fleetgate-common.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* What the names of a release's objects begin with; leaves room for the longest suffix. */}}
{{- define "fleetgate-common.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- .Values.fullnameOverride | default $full | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "fleetgate-common.selector" -}}
app.kubernetes.io/name: {{ include "fleetgate-common.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object; those of the chart win over commonLabels. */}}
{{- define "fleetgate-common.labels" -}}
{{- $own := include "fleetgate-common.selector" . | fromYaml }}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $own "app.kubernetes.io/part-of" "fleetgate" }}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service }}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") }}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{/*
Metadata of an object, from `root`, `name` and, if any, `labels`, `annotations` and `cluster`, which is true
for an object without a namespace.
*/}}
{{- define "fleetgate-common.metadata" -}}
name: {{ .name }}
{{- if not .cluster }}
namespace: {{ .root.Release.Namespace }}
{{- end }}
labels: {{- merge (include "fleetgate-common.labels" .root | fromYaml) (.labels | default dict) | toYaml | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Metadata of the pods of a `part`, from `root` and, if any, `labels` and `annotations`. */}}
{{- define "fleetgate-common.podMetadata" -}}
labels: {{- merge (include "fleetgate-common.labels" .root | fromYaml) (.labels | default dict) (.part.podLabels | default dict) .root.Values.podLabels | toYaml | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.part.podAnnotations | default dict) .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Settings of the pods of a `part`: its own values take precedence over those of the chart. */}}
{{- define "fleetgate-common.podSettings" -}}
securityContext: {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $root := .root }}
{{- $part := .part }}
{{- range $key := list "priorityClassName" "nodeSelector" "tolerations" "affinity" }}
{{- with get $part $key | default (get $root.Values $key) }}
{{ $key }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "fleetgate-common.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* Problems that both charts may have, one per line. */}}
{{- define "fleetgate-common.problems" -}}
{{- if not .Values.image.repository }}
image.repository is empty: set it to the image in your registry, for example --set image.repository=registry.example.org/fleetgate
{{- end }}
{{- end }}

{{/*
How Prometheus scrapes, from the values of a `monitor`. The labels `namespace` and `member` are those of the
metrics; without honorLabels, Prometheus would overwrite them with those of the pod.
*/}}
{{- define "fleetgate-common.scraping" -}}
interval: {{ .monitor.interval }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
honorLabels: true
{{- $hub := list }}
{{- with .root.Values.metrics.hub }}
{{- $hub = list (dict "targetLabel" "hub" "replacement" .) }}
{{- end }}
{{- with concat $hub .monitor.relabelings }}
relabelings: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
Alert rules of a `file` with the changes of metrics.alerts.rules. The threshold of an alert is the number
after the last `>` of each side of its expression.
*/}}
{{- define "fleetgate-common.rules" -}}
{{- $metrics := .root.Values.metrics }}
{{- $threshold := "> [0-9.]+(\\s+or\\s|\\s*$)" }}
{{- $known := list }}
{{- $groups := list }}
{{- range (.root.Files.Get .file | fromYaml).groups }}
{{- $rules := list }}
{{- range .rules }}
{{- $known = append $known .alert }}
{{- $own := get $metrics.alerts.rules .alert | default dict }}
{{- if hasKey $own "above" }}
{{- if not (regexMatch $threshold .expr) }}
{{- fail (printf "metrics.alerts.rules.%s.above is set, but this alert has no threshold: remove it" .alert) }}
{{- end }}
{{- $_ := set . "expr" (regexReplaceAll $threshold .expr (printf "> %v${1}" $own.above)) }}
{{- end }}
{{- if $own.for }}
{{- $_ := set . "for" $own.for }}
{{- end }}
{{- $labels := dict "severity" ($own.severity | default .labels.severity) }}
{{- $_ := set . "labels" (merge $labels .labels $metrics.alerts.ruleLabels) }}
{{- if $metrics.documentation }}
{{- $page := printf "%s/${1}.html#" (trimSuffix "/" $metrics.documentation) }}
{{- $_ := set .annotations "runbook_url" (regexReplaceAll "docs/(\\S+)[.]md#" .annotations.runbook_url $page) }}
{{- end }}
{{- if dig "enabled" true $own }}
{{- $rules = append $rules . }}
{{- end }}
{{- end }}
{{- if $rules }}
{{- $groups = append $groups (dict "name" .name "rules" $rules) }}
{{- end }}
{{- end }}
{{- range keys $metrics.alerts.rules | sortAlpha }}
{{- if not (has . $known) }}
{{- fail (printf "metrics.alerts.rules.%s: there is no such alert; the alerts are %s" . (join ", " $known)) }}
{{- end }}
{{- end }}
{{- toYaml (dict "groups" $groups) }}
{{- end }}
