"""What operators add to a release: names, labels, accounts, scheduling, containers, thresholds."""

from collections import Counter
from pathlib import Path

import promql_parser as promql
import pytest

from tests.deploy.helm.charts import (
    HUB_SIDE,
    LEAST,
    MEMBER_SIDE,
    NAMESPACE,
    Helm,
    Json,
    Objects,
    merged,
    variables,
)

CHARTS = pytest.mark.parametrize("chart", [HUB_SIDE, MEMBER_SIDE], ids=lambda chart: chart.name)

PERVASIVE: Json = {
    "commonLabels": {"team": "platform", "app.kubernetes.io/name": "mine"},
    "commonAnnotations": {"example.org/owner": "sre"},
    "podLabels": {"mesh": "on"},
    "podAnnotations": {"mesh.example.org/inject": "true"},
    "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
    "envFrom": [{"secretRef": {"name": "more"}}],
    "extraVolumes": [{"name": "trust", "configMap": {"name": "trust"}}],
    "extraVolumeMounts": [{"name": "trust", "mountPath": "/etc/trust", "readOnly": True}],
    "extraContainers": [{"name": "proxy", "image": "proxy:1"}],
    "extraInitContainers": [{"name": "wait", "image": "wait:1"}],
    "priorityClassName": "high",
    "nodeSelector": {"pool": "system"},
    "tolerations": [{"key": "system", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
}
AS_MEMBER_OF_ALL = {"settings": {"memberSecrets": "fleet-members"}}


def pods(objects: Objects, kind: str) -> dict[str, Json]:
    found = {name: each["spec"]["template"] for name, each in objects.of(kind).items()}
    assert found
    return found


@CHARTS
def test_every_object_has_the_common_labels_and_annotations(chart: Path, helm: Helm) -> None:
    monitor = "serviceMonitor" if chart is HUB_SIDE else "podMonitor"
    metrics = {"alerts": {"enabled": True}, monitor: {"enabled": True}}
    served = "admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy"
    for each in helm.render(chart, PERVASIVE | {"metrics": metrics}, "--api-versions", served).all:
        about = each["metadata"]
        assert about["labels"]["team"] == "platform", about["name"]
        assert about["labels"]["app.kubernetes.io/name"] == chart.name, "selectors rely on it"
        assert about["annotations"]["example.org/owner"] == "sre", about["name"]


@CHARTS
def test_every_pod_has_what_is_added_to_all_pods(chart: Path, helm: Helm) -> None:
    objects = helm.render(chart, PERVASIVE)
    for name, template in pods(objects, "Deployment").items():
        assert template["metadata"]["labels"].items() >= {"mesh": "on", "team": "platform"}.items()
        assert template["metadata"]["annotations"]["mesh.example.org/inject"] == "true"
        pod = template["spec"]
        assert [each["name"] for each in pod["containers"]] == ["fleetgate", "proxy"], name
        assert [each["name"] for each in pod["initContainers"]] == ["wait"], name
    for name, container, pod in objects.containers():
        for key in ("priorityClassName", "nodeSelector", "tolerations", "affinity"):
            assert pod[key] == PERVASIVE[key], name
        assert PERVASIVE["extraVolumes"][0] in pod["volumes"], name
        if container["name"] == "fleetgate":
            assert variables(container)["HTTPS_PROXY"] == "http://proxy:3128", name
            assert container["envFrom"] == PERVASIVE["envFrom"], name
            assert PERVASIVE["extraVolumeMounts"][0] in container["volumeMounts"], name


def test_jobs_have_no_sidecar_that_would_keep_them_from_finishing(helm: Helm) -> None:
    for name, template in pods(helm.render(HUB_SIDE, PERVASIVE), "Job").items():
        assert [each["name"] for each in template["spec"]["containers"]] == ["fleetgate"], name
        assert "initContainers" not in template["spec"], name


def test_a_part_of_the_hub_side_can_be_scheduled_differently(helm: Helm) -> None:
    spread = [{"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    own: Json = {
        "podLabels": {"mesh": "off", "tier": "control"},
        "podAnnotations": {"example.org/own": "yes"},
        "priorityClassName": "highest",
        "nodeSelector": {"pool": "engines"},
        "tolerations": [{"key": "engines"}],
        "affinity": {"podAffinity": {}},
    }
    values = PERVASIVE | {"engine": own | {"topologySpreadConstraints": spread}, "jobs": own}
    objects = helm.render(HUB_SIDE, values)
    jobs = pods(objects, "Job")
    deployments = pods(objects, "Deployment")
    for template in (deployments["fleetgate-engine"], *jobs.values()):
        for key in ("priorityClassName", "nodeSelector", "tolerations", "affinity"):
            assert template["spec"][key] == own[key]
        assert template["metadata"]["labels"].items() >= own["podLabels"].items()
        assert template["metadata"]["annotations"] == {
            "mesh.example.org/inject": "true",
            "example.org/own": "yes",
        }
    assert deployments["fleetgate-engine"]["spec"]["topologySpreadConstraints"] == spread
    bridge = deployments["fleetgate-bridge"]
    assert bridge["spec"]["nodeSelector"] == PERVASIVE["nodeSelector"]
    assert bridge["metadata"]["labels"]["mesh"] == "on"


def test_each_part_runs_with_its_configured_account(helm: Helm) -> None:
    values: Json = {
        "serviceAccount": {"annotations": {"example.org/of": "all"}},
        "engine": {"serviceAccount": {"name": "own", "annotations": {"example.org/of": "engine"}}},
        "bridge": {"serviceAccount": {"create": False, "name": "given"}},
        "jobs": {"serviceAccount": {"create": False, "name": "installer"}},
    }
    objects = helm.render(HUB_SIDE, values)
    run = {
        name: template["spec"]["serviceAccountName"]
        for name, template in pods(objects, "Deployment").items()
    }
    assert run == {
        "fleetgate-engine": "own",
        "fleetgate-bridge": "given",
        "fleetgate-placement": "fleetgate-placement",
    }
    assert {
        name: each["metadata"]["annotations"]["example.org/of"]
        for name, each in objects.of("ServiceAccount").items()
    } == {"own": "engine", "fleetgate-placement": "all"}
    job = objects.one("Job", "fleetgate-crds")["spec"]["template"]["spec"]
    assert job["serviceAccountName"] == "installer"
    for role, account in (("engine", "own"), ("bridge", "given"), ("crds", "installer")):
        (subject,) = objects.one("ClusterRoleBinding", f"fleetgate-{role}")["subjects"]
        assert subject["name"] == account


def test_parts_can_share_an_account(helm: Helm) -> None:
    shared: Json = {"serviceAccount": {"name": "shared"}}
    objects = helm.render(HUB_SIDE, {"engine": shared, "bridge": shared})
    accounts = Counter(e["metadata"]["name"] for e in objects.all if e["kind"] == "ServiceAccount")
    assert accounts == {"shared": 1, "fleetgate-placement": 1, "fleetgate-crds": 1}
    reader = objects.one("ClusterRoleBinding", "fleetgate-content-reader")
    names = [each["name"] for each in reader["subjects"]]
    assert sorted(names) == sorted(set(names))


def test_the_agent_runs_with_its_configured_account(helm: Helm) -> None:
    values: Json = {"serviceAccount": {"create": False, "name": "given"}}
    objects = helm.render(MEMBER_SIDE, values)
    assert not objects.of("ServiceAccount")
    (template,) = pods(objects, "Deployment").values()
    assert template["spec"]["serviceAccountName"] == "given"
    (binding,) = objects.of("ClusterRoleBinding").values()
    assert [each["name"] for each in binding["subjects"]] == ["given"]


OF_THE_HUB = {"people": {"roles": False, "policies": False}}
"""Without what is the hub's own and has the same names in every release."""


@pytest.mark.parametrize(
    ("chart", "values"),
    [(HUB_SIDE, merged(OF_THE_HUB, AS_MEMBER_OF_ALL)), (MEMBER_SIDE, {})],
    ids=["hub side", "member side"],
)
def test_two_releases_have_no_object_in_common(chart: Path, values: Json, helm: Helm) -> None:
    monitors = "serviceMonitor" if chart is HUB_SIDE else "podMonitor"
    metrics: Json = {"alerts": {"enabled": True}, monitors: {"enabled": True}}
    if chart is HUB_SIDE:
        metrics["dashboard"] = {"enabled": True}
    given = merged(merged(LEAST[chart], values), {"metrics": metrics})
    first = helm.render_as_given(chart, given)
    for other in (
        helm.render_as_given(chart, given, release="edge"),
        helm.render_as_given(chart, merged(given, {"fullnameOverride": "edge"})),
        helm.render_as_given(chart, merged(given, {"nameOverride": "edge"}), release="x"),
    ):
        assert len(other.all) == len(first.all)
        assert not set(map(identity, first.all)) & set(map(identity, other.all))
        refers_to_itself(other)


def test_a_second_release_for_the_same_hub_fails_on_what_belongs_to_the_first(helm: Helm) -> None:
    first, second = (
        {
            identity(each)
            for each in helm.render_as_given(HUB_SIDE, LEAST[HUB_SIDE], release=name).all
        }
        for name in ("fleetgate", "edge")
    )
    assert ("ClusterRole", "", "fleetgate-approver") in first & second
    assert ("ValidatingAdmissionPolicy", "", "fleetgate-approvals") in first & second


def identity(each: Json) -> tuple[str, str, str]:
    about = each["metadata"]
    return each["kind"], about.get("namespace", ""), about["name"]


def refers_to_itself(objects: Objects) -> None:
    """Assert that what objects refer to by name or label is in the same release."""
    kinds = {(each["kind"], each["metadata"]["name"]) for each in objects.all}
    for each in objects.all:
        if "roleRef" in each:
            assert (each["roleRef"]["kind"], each["roleRef"]["name"]) in kinds
            for subject in each["subjects"]:
                assert ("ServiceAccount", subject["name"]) in kinds
    for _, _, pod in objects.containers():
        if "serviceAccountName" in pod:
            assert ("ServiceAccount", pod["serviceAccountName"]) in kinds
        for volume in pod["volumes"]:
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in kinds


def test_a_release_for_another_hub_adds_nothing_to_the_cluster_it_runs_in(helm: Helm) -> None:
    values = merged(LEAST[HUB_SIDE], {"hub": {"kubeconfigSecret": {"name": "hub-b"}}})
    objects = helm.render_as_given(HUB_SIDE, values, release="hub-b")
    assert {each["metadata"].get("namespace") for each in objects.all} == {NAMESPACE}


@pytest.mark.parametrize(
    ("values", "flags", "versions"),
    [
        ({}, ("--kube-version", "1.36.0"), {"v1"}),
        ({}, ("--kube-version", "1.33.0"), set()),
        ({"people": {"names": "v1beta1"}}, ("--kube-version", "1.34.0"), {"v1beta1"}),
        ({"people": {"names": "omit"}}, ("--kube-version", "1.36.0"), set()),
    ],
    ids=["as the version of Kubernetes has them", "an older one", "as asked for", "not wanted"],
)
def test_templates_without_a_cluster_have_the_admission_policies(
    values: Json, flags: tuple[str, ...], versions: set[str], helm: Helm
) -> None:
    objects = helm.render(HUB_SIDE, values, *flags)
    assert len(objects.of("ValidatingAdmissionPolicy")) == len(
        objects.of("ValidatingAdmissionPolicyBinding")
    )
    assert "fleetgate-approvals" in objects.of("ValidatingAdmissionPolicy")
    found = {
        each["apiVersion"].rpartition("/")[2]
        for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
        for each in objects.of(kind).values()
    }
    assert found == versions


def test_a_hub_that_serves_no_mutating_policies_gets_none(helm: Helm) -> None:
    served = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy"
    flags = ("--kube-version", "1.36.0", "--api-versions", served)
    assert not helm.render(HUB_SIDE, None, *flags).of("MutatingAdmissionPolicy")


def test_unhealthy_pods_do_not_block_the_drain_of_a_node(helm: Helm) -> None:
    def policies(values: Json) -> set[str]:
        budgets = helm.render(HUB_SIDE, values).of("PodDisruptionBudget").values()
        return {each["spec"]["unhealthyPodEvictionPolicy"] for each in budgets}

    assert policies({}) == {"AlwaysAllow"}
    kept = {"podDisruptionBudget": {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}}
    assert policies(kept) == {"IfHealthyBudget"}


def alerts(objects: Objects) -> dict[str, Json]:
    (rule,) = objects.of("PrometheusRule").values()
    return {each["alert"]: each for group in rule["spec"]["groups"] for each in group["rules"]}


def test_thresholds_of_alerts_can_be_changed(helm: Helm) -> None:
    rules = {
        "FleetgateTasksWaitForWorkers": {"above": 12.5, "for": "30m", "severity": "critical"},
        "FleetgateGateWaits": {"above": 28800},
        "FleetgateHubSlow": {"enabled": False},
    }
    given = {"enabled": True, "rules": rules, "ruleLabels": {"team": "platform"}}
    before = alerts(helm.render(HUB_SIDE, {"metrics": {"alerts": {"enabled": True}}}))
    after = alerts(helm.render(HUB_SIDE, {"metrics": {"alerts": given}}))
    assert set(before) - set(after) == {"FleetgateHubSlow"}
    changed = after["FleetgateTasksWaitForWorkers"]
    assert changed["for"] == "30m"
    assert changed["labels"] == {"severity": "critical", "team": "platform"}
    # Both sides of its `or` have the threshold.
    was = before["FleetgateTasksWaitForWorkers"]["expr"]
    assert was.count("> 5") == 2
    assert changed["expr"] == was.replace("> 5", "> 12.5")
    assert after["FleetgateGateWaits"]["expr"].endswith("> 28800")
    for name, rule in after.items():
        promql.parse(rule["expr"])
        if name not in rules:
            assert rule["expr"] == before[name]["expr"]


@pytest.mark.parametrize(
    ("chart", "kind", "monitor", "endpoints"),
    [
        (HUB_SIDE, "ServiceMonitor", "serviceMonitor", "endpoints"),
        (MEMBER_SIDE, "PodMonitor", "podMonitor", "podMetricsEndpoints"),
    ],
    ids=["hub side", "member side"],
)
def test_scraped_metrics_name_their_hub(
    chart: Path, kind: str, monitor: str, endpoints: str, helm: Helm
) -> None:
    own = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    drop = {"sourceLabels": ["__name__"], "regex": "process_.*", "action": "drop"}
    scraped = {
        "enabled": True,
        "scrapeTimeout": "5s",
        "relabelings": [own],
        "metricRelabelings": [drop],
    }
    objects = helm.render(chart, {"metrics": {"hub": "eu", monitor: scraped}})
    (endpoint,) = objects.one(kind, chart.name)["spec"][endpoints]
    assert endpoint["relabelings"] == [{"targetLabel": "hub", "replacement": "eu"}, own]
    assert endpoint["metricRelabelings"] == [drop]
    assert endpoint["scrapeTimeout"] == "5s"
