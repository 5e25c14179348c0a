{{- define "fleetgate-agent.selector" -}}
app.kubernetes.io/name: fleetgate-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "fleetgate-agent.labels" -}}
{{ include "fleetgate-agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: fleetgate
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "fleetgate-agent.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "fleetgate-agent.checks" -}}
{{- if not .Values.member }}
{{- fail "member is empty: set it to the name of the member's MemberCluster on the hub, for example --set member=prod-1" }}
{{- end }}
{{- with .Values.hub }}
{{- if and .kubeconfigSecret.name .server }}
{{- fail "hub.kubeconfigSecret.name and hub.server are both set, but the kubeconfig already holds the address of the hub: remove one of them" }}
{{- end }}
{{- if not (or .kubeconfigSecret.name .server) }}
{{- fail "the hub is not configured: set hub.kubeconfigSecret.name, or hub.server and hub.tokenSecret.name" }}
{{- end }}
{{- if and .server (not .tokenSecret.name) }}
{{- fail "hub.server needs hub.tokenSecret.name, the Secret with the agent's token on the hub" }}
{{- end }}
{{- end }}
{{- end }}
