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
{{- fail "member is empty: give the name of the member's MemberCluster on the hub, as in --set member=prod-1" }}
{{- end }}
{{- with .Values.hub }}
{{- if and .kubeconfigSecret.name .server }}
{{- fail "hub.kubeconfigSecret.name and hub.server are both given: a kubeconfig says where the hub is, so take one of them away" }}
{{- end }}
{{- if not (or .kubeconfigSecret.name .server) }}
{{- fail "the hub is not named: give hub.kubeconfigSecret.name, or hub.server and hub.tokenSecret.name" }}
{{- end }}
{{- if and .server (not .tokenSecret.name) }}
{{- fail "hub.server needs hub.tokenSecret.name, the Secret with the agent's token on the hub" }}
{{- end }}
{{- end }}
{{- end }}
