{{- define "fleetgate.selector" -}}
app.kubernetes.io/name: fleetgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "fleetgate.labels" -}}
{{ include "fleetgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: fleetgate
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "fleetgate.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* The worker roles that run, as a comma-separated list. */}}
{{- define "fleetgate.roles" -}}
engine,bridge
{{- if eq .Values.settings.placement "builtin" }},placement{{ end }}
{{- if .Values.settings.memberSecrets }},agents{{ end }}
{{- end }}

{{/* The Deployments, as a map from the name after `fleetgate-` to the roles that each runs. */}}
{{- define "fleetgate.deployments" -}}
{{- $roles := include "fleetgate.roles" . -}}
{{- if eq .Values.processes "together" -}}
worker: {{ $roles }}
{{- else -}}
{{- range splitList "," $roles }}
{{ . }}: {{ . }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The ServiceAccount of this release for one in a shipped binding; empty if its role does not run. */}}
{{- define "fleetgate.accountOf" -}}
{{- $part := trimPrefix "fleetgate-" .account -}}
{{- if not (has $part (splitList "," (include "fleetgate.roles" .root))) -}}
{{- else if eq .root.Values.processes "together" -}}fleetgate-worker
{{- else -}}fleetgate-{{ $part }}
{{- end -}}
{{- end }}

{{- define "fleetgate.checks" -}}
{{- if not .Values.temporal.address }}
{{- fail "temporal.address is empty: set it to host:port of Temporal's frontend, for example --set temporal.address=temporal-frontend.temporal:7233" }}
{{- end }}
{{- if ne (empty .Values.settings.deployment) (empty .Values.settings.buildId) }}
{{- fail "settings.deployment and settings.buildId go together: set both or none" }}
{{- end }}
{{- if and .Values.settings.context (not .Values.hub.kubeconfigSecret.name) }}
{{- fail "settings.context names a context of a kubeconfig, but hub.kubeconfigSecret.name is empty: name the Secret that holds it" }}
{{- end }}
{{- end }}

{{/* Variables and volumes that tell a process how to reach the hub. */}}
{{- define "fleetgate.hubEnv" -}}
{{- if .Values.hub.kubeconfigSecret.name }}
- name: KUBECONFIG
  value: /etc/fleetgate/hub/kubeconfig
{{- end }}
{{- end }}

{{- define "fleetgate.hubMounts" -}}
{{- if .Values.hub.kubeconfigSecret.name }}
- {name: hub, mountPath: /etc/fleetgate/hub, readOnly: true}
{{- end }}
{{- end }}

{{- define "fleetgate.hubVolumes" -}}
{{- with .Values.hub.kubeconfigSecret }}
{{- if .name }}
- name: hub
  secret:
    secretName: {{ .name }}
    items:
      - {key: {{ .key | quote }}, path: kubeconfig}
{{- end }}
{{- end }}
{{- end }}

{{/* Variables and volumes that tell a process how to reach Temporal. */}}
{{- define "fleetgate.temporalEnv" -}}
{{- with .Values.temporal }}
- {name: TEMPORAL_ADDRESS, value: {{ .address | quote }}}
- {name: TEMPORAL_NAMESPACE, value: {{ .namespace | quote }}}
{{- if .tls.enabled }}
- {name: TEMPORAL_TLS, value: "true"}
{{- end }}
{{- with .tls.serverName }}
- {name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }}}
{{- end }}
{{- if .tls.caSecret.name }}
- {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/fleetgate/temporal-ca/ca.crt}
{{- end }}
{{- if .tls.clientSecret }}
- {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/fleetgate/temporal-client/tls.crt}
- {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/fleetgate/temporal-client/tls.key}
{{- end }}
{{- if .apiKeySecret.name }}
- name: TEMPORAL_API_KEY
  valueFrom:
    secretKeyRef: {name: {{ .apiKeySecret.name | quote }}, key: {{ .apiKeySecret.key | quote }}}
{{- end }}
{{- if .payloadKeysSecret.name }}
- {name: FLEETGATE_PAYLOAD_KEYS, value: /etc/fleetgate/payload-keys/keys}
{{- end }}
{{- end }}
{{- end }}

{{- define "fleetgate.temporalMounts" -}}
{{- with .Values.temporal.tls }}
{{- if .caSecret.name }}
- {name: temporal-ca, mountPath: /etc/fleetgate/temporal-ca, readOnly: true}
{{- end }}
{{- if .clientSecret }}
- {name: temporal-client, mountPath: /etc/fleetgate/temporal-client, readOnly: true}
{{- end }}
{{- end }}
{{- if .Values.temporal.payloadKeysSecret.name }}
- {name: payload-keys, mountPath: /etc/fleetgate/payload-keys, readOnly: true}
{{- end }}
{{- end }}

{{- define "fleetgate.temporalVolumes" -}}
{{- with .Values.temporal.tls }}
{{- if .caSecret.name }}
- name: temporal-ca
  secret:
    secretName: {{ .caSecret.name }}
    items:
      - {key: {{ .caSecret.key | quote }}, path: ca.crt}
{{- end }}
{{- if .clientSecret }}
- name: temporal-client
  secret: {secretName: {{ .clientSecret | quote }}}
{{- end }}
{{- end }}
{{- with .Values.temporal.payloadKeysSecret }}
{{- if .name }}
- name: payload-keys
  secret:
    secretName: {{ .name }}
    items:
      - {key: {{ .key | quote }}, path: keys}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings that all pods share. */}}
{{- define "fleetgate.podSettings" -}}
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* One object of a shipped file, with this chart's labels. */}}
{{- define "fleetgate.shipped" -}}
{{- $labels := merge (default dict .object.metadata.labels) (include "fleetgate.labels" .root | fromYaml) }}
{{- $_ := set .object.metadata "labels" $labels }}
---
{{ toYaml .object }}
{{- end }}
