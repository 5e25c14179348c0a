"""The objects that the chart of the member side renders from its values."""

import click
import pytest
import yaml

from deploy.packaging import ROOT
from starter.agent import agent
from tests.deploy.helm.charts import (
    KUBERNETES,
    LEAST,
    MEMBER_SIDE,
    Helm,
    Json,
    merged,
    variables,
)

BY_TOKEN: Json = {
    "hub": {
        "kubeconfigSecret": {"name": ""},
        "server": "https://hub.example.org:6443",
        "tokenSecret": {"name": "hub-token"},
        "certificateAuthority": "-----BEGIN CERTIFICATE-----\n",
    },
    "collectNamespaces": True,
}
each_way = pytest.mark.parametrize("values", [{}, BY_TOKEN], ids=["kubeconfig", "token"])


@each_way
def test_helm_lint_passes(values: Json, helm: Helm) -> None:
    given = merged(LEAST[MEMBER_SIDE], values)
    helm.run("lint", MEMBER_SIDE, "--strict", "--kube-version", KUBERNETES, values=given)


@each_way
def test_the_agent_accepts_its_flags(values: Json, helm: Helm) -> None:
    ((_, container, _),) = helm.render(MEMBER_SIDE, values).containers()
    command, *arguments = container["args"]
    assert command == "agent"
    told, left, _ = agent.make_parser(click.Context(agent)).parse_args(arguments)
    assert left == []
    assert told["member"] == "prod-1"
    assert told["hub_kubeconfig"] == "/etc/fleetgate/hub/kubeconfig"
    assert told.get("collect_namespaces", False) == bool(values)


@each_way
def test_one_agent_runs_at_a_time_without_privileges(values: Json, helm: Helm) -> None:
    (deployment,) = helm.render(MEMBER_SIDE, values).of("Deployment").values()
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"]
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in pod["volumes"]}


def test_a_token_becomes_a_kubeconfig_that_reads_it_from_its_secret(helm: Helm) -> None:
    objects = helm.render(MEMBER_SIDE, BY_TOKEN)
    text = objects.one("ConfigMap", "fleetgate-agent-hub")["data"]["kubeconfig"]
    kubeconfig = yaml.safe_load(text)
    (cluster,) = kubeconfig["clusters"]
    assert cluster["cluster"]["server"] == "https://hub.example.org:6443"
    assert cluster["cluster"]["certificate-authority-data"]
    (user,) = kubeconfig["users"]
    folder, _, file = user["user"]["tokenFile"].rpartition("/")
    ((_, container, pod),) = objects.containers()
    (mount,) = (each for each in container["volumeMounts"] if each["mountPath"] == folder)
    (volume,) = (each for each in pod["volumes"] if each["name"] == mount["name"])
    assert volume["secret"]["secretName"] == "hub-token"
    assert volume["secret"]["items"] == [{"key": "token", "path": file}]


def test_a_changed_hub_restarts_the_pod(helm: Helm) -> None:
    def annotations(server: str) -> Json:
        values = BY_TOKEN | {"hub": BY_TOKEN["hub"] | {"server": server}}
        (deployment,) = helm.render(MEMBER_SIDE, values).of("Deployment").values()
        found: Json = deployment["spec"]["template"]["metadata"]["annotations"]
        return found

    assert annotations("https://one:6443") != annotations("https://two:6443")


def test_only_requests_for_metrics_and_health_are_allowed(helm: Helm) -> None:
    scraper = {"podSelector": {"matchLabels": {"app": "prometheus"}}}
    values: Json = {"networkPolicy": {"metricsFrom": [scraper]}}
    policy = helm.render(MEMBER_SIDE, values).one("NetworkPolicy", "fleetgate-agent")["spec"]
    assert policy["policyTypes"] == ["Ingress"]
    ports = [{"protocol": "TCP", "port": "metrics"}]
    assert policy["ingress"] == [{"ports": ports, "from": [scraper]}]
    open_to_all = helm.render(MEMBER_SIDE).one("NetworkPolicy", "fleetgate-agent")["spec"]
    assert open_to_all["ingress"] == [{"ports": ports}]


def test_prometheus_scrapes_the_agents_metrics_port(helm: Helm) -> None:
    metrics: Json = {"port": 9999, "podMonitor": {"enabled": True, "labels": {"release": "x"}}}
    objects = helm.render(MEMBER_SIDE, {"metrics": metrics})
    monitor = objects.one("PodMonitor", "fleetgate-agent")
    assert monitor["metadata"]["labels"]["release"] == "x"
    (deployment,) = objects.deployments()
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint == {"port": "metrics", "interval": "30s", "honorLabels": True}
    ((_, container, _),) = objects.containers()
    assert container["ports"] == [{"name": "metrics", "containerPort": 9999}]
    assert variables(container)["FLEETGATE_METRICS_ADDRESS"] == "0.0.0.0:9999"
    assert "PodMonitor" not in {each["kind"] for each in helm.render(MEMBER_SIDE).all}


def test_the_alerts_are_the_shipped_ones(helm: Helm) -> None:
    shipped = yaml.safe_load((ROOT / "deploy/observability/agent-alerts.yaml").read_text())
    enabled: Json = {"metrics": {"alerts": {"enabled": True}}}
    rules = helm.render(MEMBER_SIDE, enabled).one("PrometheusRule", "fleetgate-agent")
    assert rules["spec"] == shipped
    where = {"documentation": "https://docs.example.org"}
    linked = helm.render(MEMBER_SIDE, merged(enabled, {"metrics": where}))
    (group,) = linked.one("PrometheusRule", "fleetgate-agent")["spec"]["groups"]
    page = "https://docs.example.org/operations/alerts.html"
    for rule in group["rules"]:
        assert rule["annotations"]["runbook_url"] == f"{page}#{rule['alert'].lower()}"
