"""The objects that the chart of the hub side renders from its values."""

import json
from typing import Any

import pytest
import yaml

from api.kinds import CUSTOM_RESOURCE_DEFINITION
from deploy.packaging import ROOT, version
from tests.deploy.helm.charts import (
    HUB_SIDE,
    IMAGE,
    KUBERNETES,
    LEAST,
    MEMBER_SIDE,
    NAMESPACE,
    Helm,
    Json,
    Objects,
    merged,
    variables,
)
from wiring import Role

PARTS = ("engine", "bridge", "placement")

VALUES: dict[str, Json] = {
    "as it comes": {},
    "together": {"processes": "together"},
    "with KubeFleet": {"settings": {"placement": "external"}},
    "with agents": {"settings": {"memberSecrets": "fleet-members"}},
    "with everything": {
        "image": {"repository": "registry.example.org/fleetgate", "digest": "sha256:" + "0" * 64},
        "imagePullSecrets": [{"name": "registry"}],
        "settings": {
            "memberSecrets": "fleet-members",
            "tracing": "otlp",
            "deployment": "fleetgate",
            "buildId": "1",
        },
        "temporal": {
            "tls": {
                "enabled": True,
                "serverName": "temporal",
                "caSecret": {"name": "temporal-ca"},
                "clientSecret": "temporal-client",
            },
            "apiKeySecret": {"name": "temporal-key"},
            "payloadKeysSecret": {"name": "payload-keys"},
        },
        "rbac": {
            "contentRules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
        },
        "serviceAccount": {"annotations": {"example.org/identity": "fleetgate"}},
        "metrics": {
            "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
            "alerts": {"enabled": True},
            "dashboard": {"enabled": True},
        },
        "networkPolicy": {
            "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
            "egress": {
                "restrict": True,
                "extra": [{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}],
            },
        },
        "extraEnv": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
        "podLabels": {"team": "platform"},
        "podAnnotations": {"example.org/note": "yes"},
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "infra", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
    },
    "on another cluster": {"hub": {"kubeconfigSecret": {"name": "hub"}}},
}

each_set = pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))


@each_set
def test_helm_lint_passes(values: Json, helm: Helm) -> None:
    given = merged(LEAST[HUB_SIDE], values)
    helm.run("lint", HUB_SIDE, "--strict", "--kube-version", KUBERNETES, values=given)


@each_set
def test_every_process_runs_unprivileged_on_a_read_only_file_system(
    values: Json, helm: Helm
) -> None:
    found = list(helm.render(HUB_SIDE, values).containers())
    assert found
    for name, container, pod in found:
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"], name
        assert not context["allowPrivilegeEscalation"], name
        assert context["capabilities"] == {"drop": ["ALL"]}, name
        assert "memory" in container["resources"]["requests"], name
        assert "memory" in container["resources"]["limits"], name
        assert {"name": "tmp", "mountPath": "/tmp"} in container["volumeMounts"], name
        mounted = {each["name"] for each in container["volumeMounts"]}
        assert mounted == {each["name"] for each in pod["volumes"]}, name


def test_each_role_has_two_replicas_with_their_own_identity(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE)
    deployments = objects.of("Deployment")
    assert set(deployments) == {f"fleetgate-{part}" for part in PARTS}
    for part in PARTS:
        deployment = deployments[f"fleetgate-{part}"]
        assert deployment["spec"]["replicas"] == 2
        pod = deployment["spec"]["template"]["spec"]
        assert pod["serviceAccountName"] == f"fleetgate-{part}"
        assert pod["automountServiceAccountToken"]
        assert objects.one("ServiceAccount", f"fleetgate-{part}")
        assert variables(pod["containers"][0])["FLEETGATE_RUN"] == part


def test_together_the_roles_are_one_process_with_the_rights_of_all(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, {"processes": "together"})
    (deployment,) = objects.deployments()
    pod = deployment["spec"]["template"]["spec"]
    assert variables(pod["containers"][0])["FLEETGATE_RUN"] == ",".join(PARTS)
    for part in PARTS:
        binding = objects.one("ClusterRoleBinding", f"fleetgate-{part}")
        assert [each["name"] for each in binding["subjects"]] == ["fleetgate-worker"]
    shared = objects.one("ClusterRoleBinding", "fleetgate-content-reader")
    assert [each["name"] for each in shared["subjects"]] == ["fleetgate-worker"]


@pytest.mark.parametrize("processes", ["separate", "together"])
def test_there_is_no_placement_if_another_system_handles_it(processes: str, helm: Helm) -> None:
    values = {"processes": processes, "settings": {"placement": "external"}}
    objects = helm.render(HUB_SIDE, values)
    runs = [variables(each)["FLEETGATE_RUN"] for each in workers(objects)]
    assert ",".join(runs) == "engine,bridge" or sorted(runs) == ["bridge", "engine"]
    assert "fleetgate-placement" not in objects.of("ClusterRoleBinding")


def workers(objects: Any) -> list[Json]:
    found = [each for _, each, _ in objects.containers() if each["args"] == ["worker"]]
    assert found, "a chart without a worker"
    return found


def test_the_chart_has_every_role_of_a_worker(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, VALUES["with agents"])
    named = {variables(each)["FLEETGATE_RUN"] for each in workers(objects)}
    assert named == {str(role) for role in Role}


@each_set
def test_probes_service_and_monitor_use_the_address_of_the_worker(values: Json, helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, values)
    for container in workers(objects):
        host, _, port = variables(container)["FLEETGATE_METRICS_ADDRESS"].rpartition(":")
        assert host == "0.0.0.0"
        assert container["ports"] == [{"name": "metrics", "containerPort": int(port)}]
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}
    service = objects.one("Service", "fleetgate-metrics")
    for deployment in objects.deployments():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        own = objects.one("PodDisruptionBudget", deployment["metadata"]["name"])["spec"]
        assert own["selector"]["matchLabels"].items() <= labels.items()
        assert own["maxUnavailable"] == 1
        let_in = objects.one("NetworkPolicy", "fleetgate")["spec"]
        assert let_in["podSelector"]["matchLabels"].items() <= labels.items()
        assert let_in["ingress"][0]["ports"] == [{"protocol": "TCP", "port": "metrics"}]
    for monitor in objects.of("ServiceMonitor").values():
        selector = monitor["spec"]["selector"]["matchLabels"]
        assert selector.items() <= service["metadata"]["labels"].items()
        # Otherwise the namespace of the scraped pod would replace that of a run.
        assert all(each["honorLabels"] for each in monitor["spec"]["endpoints"])


def test_replicas_are_spread_over_nodes_and_zones(helm: Helm) -> None:
    for deployment in helm.render(HUB_SIDE).deployments():
        template = deployment["spec"]["template"]
        spread = template["spec"]["topologySpreadConstraints"]
        assert [each["topologyKey"] for each in spread] == [
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
        ]
        for each in spread:
            chosen = each["labelSelector"]["matchLabels"]
            assert chosen.items() <= template["metadata"]["labels"].items()
            assert chosen["app.kubernetes.io/component"] in deployment["metadata"]["name"]


def test_temporals_secrets_are_mounted_only_in_processes_that_use_temporal(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, VALUES["with everything"])
    for name, container, pod in objects.containers():
        mounted = {each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each}
        from_secrets = {
            each["name"]: each["valueFrom"]["secretKeyRef"]
            for each in container.get("env", [])
            if "secretKeyRef" in each.get("valueFrom", {})
        }
        if name.removeprefix("fleetgate-") in {"engine", "bridge", "temporal", "current"}:
            assert mounted == {"temporal-ca", "temporal-client", "payload-keys"}, name
            assert from_secrets == {
                "TEMPORAL_API_KEY": {"name": "temporal-key", "key": "api-key"}
            }, name
            told = variables(container)
            assert told["TEMPORAL_ADDRESS"] == "temporal-frontend.temporal:7233"
            assert told["TEMPORAL_TLS"] == "true"
            for variable, file in {
                "TEMPORAL_TLS_SERVER_CA_CERT_PATH": "ca.crt",
                "TEMPORAL_TLS_CLIENT_CERT_PATH": "tls.crt",
                "TEMPORAL_TLS_CLIENT_KEY_PATH": "tls.key",
                "FLEETGATE_PAYLOAD_KEYS": "keys",
            }.items():
                folder, _, named = told[variable].rpartition("/")
                assert named == file
                assert folder in {each["mountPath"] for each in container["volumeMounts"]}
        else:
            assert (mounted, from_secrets) == (set(), {}), name


def test_a_remote_hub_is_reached_only_with_its_kubeconfig(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, VALUES["on another cluster"])
    assert not objects.of("ClusterRole")
    assert not objects.of("ClusterRoleBinding")
    for name, container, pod in objects.containers():
        assert not pod["automountServiceAccountToken"], name
        if not name.endswith(("-temporal", "-current")):
            assert variables(container)["KUBECONFIG"] == "/etc/fleetgate/hub/kubeconfig", name
            mount = {"name": "hub", "mountPath": "/etc/fleetgate/hub", "readOnly": True}
            assert mount in container["volumeMounts"], name


def test_the_definitions_are_installed_first_with_separate_rights(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE)
    job = objects.one("Job", "fleetgate-crds")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    pod = job["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == ["crds", "--apply"]
    assert pod["serviceAccountName"] == "fleetgate-crds"
    (rule,) = objects.one("ClusterRole", "fleetgate-crds")["rules"]
    assert rule["apiGroups"] == [CUSTOM_RESOURCE_DEFINITION.group]
    assert rule["resources"] == [CUSTOM_RESOURCE_DEFINITION.plural]
    assert "delete" not in rule["verbs"]
    for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding"):
        annotations = objects.one(kind, "fleetgate-crds")["metadata"]["annotations"]
        assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert int(annotations["helm.sh/hook-weight"]) < 0
    assert not objects.of("CustomResourceDefinition"), "Helm would delete them on uninstall"


def test_jobs_are_left_out_if_they_are_turned_off(helm: Helm) -> None:
    values = {"crds": {"install": False}, "temporal": {"setup": {"enabled": False}}}
    objects = helm.render(HUB_SIDE, values)
    assert not objects.of("Job")
    assert "fleetgate-crds" not in objects.of("ServiceAccount") | objects.of("ClusterRole")


def test_egress_can_be_restricted(helm: Helm) -> None:
    values: Json = {"networkPolicy": {"egress": {"restrict": True}}}
    policy = helm.render(HUB_SIDE, values).one("NetworkPolicy", "fleetgate")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    ports = {(each["protocol"], each["port"]) for each in policy["egress"][0]["ports"]}
    assert ports == {("UDP", 53), ("TCP", 53), ("TCP", 443), ("TCP", 6443), ("TCP", 7233)}


def test_alerts_and_dashboard_are_the_shipped_ones(helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, VALUES["with everything"])
    shipped = yaml.safe_load((ROOT / "deploy/observability/alerts.yaml").read_text())
    assert objects.one("PrometheusRule", "fleetgate")["spec"] == shipped
    shipped = json.loads((ROOT / "deploy/observability/grafana-dashboard.json").read_text())
    assert dashboard(objects) == shipped


def dashboard(objects: Objects) -> Json:
    text = objects.one("ConfigMap", "fleetgate-dashboard")["data"]["fleetgate.json"]
    found: Json = json.loads(text)
    return found


def test_the_dashboard_links_to_the_configured_addresses(helm: Helm) -> None:
    values: Json = {
        "temporal": {"namespace": "rollouts.a1b2c"},
        "metrics": {
            "documentation": "https://docs.example.org/",
            "dashboard": {"enabled": True, "temporalUI": "https://cloud.temporal.io"},
        },
    }
    variables = dashboard(helm.render(HUB_SIDE, values))["templating"]["list"]
    shown = {
        each["name"]: (each["query"], each["current"]["value"])
        for each in variables
        if each["type"] == "textbox"
    }
    assert shown == {
        "temporal": ("https://cloud.temporal.io",) * 2,
        "temporal_namespace": ("rollouts.a1b2c",) * 2,
        "documentation": ("https://docs.example.org",) * 2,
    }


def test_alerts_link_to_the_configured_documentation(helm: Helm) -> None:
    metrics = {"alerts": {"enabled": True}, "documentation": "https://docs.example.org/fleetgate/"}
    objects = helm.render(HUB_SIDE, {"metrics": metrics})
    groups = objects.one("PrometheusRule", "fleetgate")["spec"]["groups"]
    links = {
        rule["alert"]: rule["annotations"]["runbook_url"] for g in groups for rule in g["rules"]
    }
    assert links
    page = "https://docs.example.org/fleetgate/operations/alerts.html"
    assert links == {name: f"{page}#{name.lower()}" for name in links}


@pytest.mark.parametrize("chart", [HUB_SIDE, MEMBER_SIDE], ids=lambda chart: str(chart.name))
def test_the_image_has_the_version_of_the_chart_by_default(chart: Any, helm: Helm) -> None:
    def images(image: Json) -> set[str]:
        objects = helm.render(chart, {"image": image})
        return {container["image"] for _, container, _ in objects.containers()}

    ours = IMAGE["repository"]
    assert images({}) == {f"{ours}:{version()}"}
    assert images({"repository": "example.org/f", "tag": "x"}) == {"example.org/f:x"}
    digest = "sha256:" + "a" * 64
    assert images({"tag": "x", "digest": digest}) == {f"{ours}@{digest}"}


@each_set
def test_everything_is_in_the_namespace_of_the_release(values: Json, helm: Helm) -> None:
    objects = helm.render(HUB_SIDE, values).all
    secrets_of_members = values.get("settings", {}).get("memberSecrets", NAMESPACE)
    spaces = {each["metadata"].get("namespace", NAMESPACE) for each in objects}
    assert spaces == {NAMESPACE, secrets_of_members}
    for each in objects:
        for subject in each.get("subjects", []):
            assert subject["namespace"] == NAMESPACE
