{{/* The worker roles that run, as a comma-separated list. */}}
{{- define "fleetgate.roles" -}}
engine,bridge
{{- if eq .Values.settings.placement "builtin" }},placement{{ end }}
{{- if .Values.settings.memberSecrets }},agents{{ end }}
{{- end }}

{{/* The Deployments, as a map from the part to the roles that each runs. */}}
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

{{/* Name of the ServiceAccount of a `part`, of which `key` names the values. */}}
{{- define "fleetgate.account" -}}
{{- (get .root.Values (.key | default .part)).serviceAccount.name | default (printf "%s-%s" (include "fleetgate-common.fullname" .root) .part) }}
{{- end }}

{{/* The ServiceAccount of this release for one in a shipped binding; empty if its role does not run. */}}
{{- define "fleetgate.accountOf" -}}
{{- $part := trimPrefix "fleetgate-" .account -}}
{{- if has $part (splitList "," (include "fleetgate.roles" .root)) -}}
{{- $isOne := eq .root.Values.processes "together" -}}
{{- include "fleetgate.account" (dict "root" .root "part" (ternary "worker" $part $isOne)) -}}
{{- end -}}
{{- end }}

{{/* Whether the chart creates the account with which a Job installs the CRDs. */}}
{{- define "fleetgate.crdsAccount" -}}
{{- if and .Values.crds.install (empty .Values.hub.kubeconfigSecret.name) }}true{{ end }}
{{- end }}

{{/* Problems of the values that a schema cannot find, one per line. */}}
{{- define "fleetgate.problems" -}}
{{- include "fleetgate-common.problems" . }}
{{- if not .Values.temporal.address }}
temporal.address is empty: set it to host:port of Temporal's frontend, for example --set temporal.address=temporal-frontend.temporal:7233
{{- end }}
{{- if ne (empty .Values.settings.deployment) (empty .Values.settings.buildId) }}
settings.deployment and settings.buildId go together: set both or none
{{- end }}
{{- if and .Values.settings.context (not .Values.hub.kubeconfigSecret.name) }}
settings.context names a context of a kubeconfig, but hub.kubeconfigSecret.name is empty: name the Secret that holds it
{{- end }}
{{- $parts := keys (include "fleetgate.deployments" . | fromYaml) }}
{{- range $part := ternary (append $parts "jobs") $parts (eq (include "fleetgate.crdsAccount" .) "true") | sortAlpha }}
{{- with (get $.Values $part).serviceAccount }}
{{- if not (or .create .name) }}
{{ $part }}.serviceAccount.create is false, so {{ $part }}.serviceAccount.name is needed: set it to the ServiceAccount to use
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Version of the API of mutating admission policies; empty if they are left out. Only while it talks to the hub
does Helm know the kinds that the hub serves, such as ValidatingAdmissionPolicy in every supported version.
`helm template` does not, so that the version of Kubernetes decides: it serves v1 from 1.36 on.
*/}}
{{- define "fleetgate.mutating" -}}
{{- $group := "admissionregistration.k8s.io" }}
{{- $served := .Capabilities.APIVersions }}
{{- if ne .Values.people.names "auto" }}
{{- trimPrefix "omit" .Values.people.names }}
{{- else if $served.Has (printf "%s/v1/MutatingAdmissionPolicy" $group) }}v1
{{- else if $served.Has (printf "%s/v1beta1/MutatingAdmissionPolicy" $group) }}v1beta1
{{- else if $served.Has (printf "%s/v1/ValidatingAdmissionPolicy" $group) }}
{{- else if semverCompare ">=1.36-0" .Capabilities.KubeVersion.Version }}v1
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

{{/*
One object of a shipped file, as part of this release. `isOwn` is true for objects whose names begin with the
release's: a hub has only one set of the others.
*/}}
{{- define "fleetgate.shipped" -}}
{{- $object := .object }}
{{- if .isOwn }}
{{- $prefix := printf "%s-" (include "fleetgate-common.fullname" .root) }}
{{- $_ := set $object.metadata "name" (regexReplaceAll "^fleetgate-" $object.metadata.name $prefix) }}
{{- if hasKey $object "roleRef" }}
{{- $_ := set $object.roleRef "name" (regexReplaceAll "^fleetgate-" $object.roleRef.name $prefix) }}
{{- end }}
{{- end }}
{{- $labels := merge (default dict $object.metadata.labels) (include "fleetgate-common.labels" .root | fromYaml) }}
{{- $_ := set $object.metadata "labels" $labels }}
{{- with .root.Values.commonAnnotations }}
{{- $_ := set $object.metadata "annotations" (merge (default dict $object.metadata.annotations) .) }}
{{- end }}
---
{{ toYaml $object }}
{{- end }}
