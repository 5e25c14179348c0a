{{- define "fleetgate-agent.account" -}}
{{- .Values.serviceAccount.name | default (include "fleetgate-common.fullname" .) }}
{{- end }}

{{/* Problems of the values that a schema cannot find, one per line. */}}
{{- define "fleetgate-agent.problems" -}}
{{- include "fleetgate-common.problems" . }}
{{- if not .Values.member }}
member is empty: set it to the name of the member's MemberCluster on the hub, for example --set member=prod-1
{{- end }}
{{- with .Values.hub }}
{{- if and .kubeconfigSecret.name .server }}
hub.kubeconfigSecret.name and hub.server are both set, but the kubeconfig already holds the address of the hub: remove one of them
{{- end }}
{{- if not (or .kubeconfigSecret.name .server) }}
the hub is not configured: set hub.kubeconfigSecret.name, or hub.server and hub.tokenSecret.name
{{- end }}
{{- if and .server (not .tokenSecret.name) }}
hub.server needs hub.tokenSecret.name, the Secret with the agent's token on the hub
{{- end }}
{{- end }}
{{- if not (or .Values.serviceAccount.create .Values.serviceAccount.name) }}
serviceAccount.create is false, so serviceAccount.name is needed: set it to the ServiceAccount to use
{{- end }}
{{- end }}
