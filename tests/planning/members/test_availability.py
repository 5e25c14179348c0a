from typing import Any

import pytest

from api.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from planning.members.availability import Availability, judge

AVAILABLE, NOT_YET, NOT_TRACKABLE = (
    Availability.AVAILABLE,
    Availability.NOT_YET,
    Availability.NOT_TRACKABLE,
)
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets", namespaced=True)
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets", namespaced=True)
SERVICE = Kind("", "v1", "Service", "services", namespaced=True)
BUDGET = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", namespaced=True)


def live(spec: dict[str, Any], status: dict[str, Any], generation: int = 2) -> dict[str, Any]:
    return {"metadata": {"generation": generation}, "spec": spec, "status": status}


READY = {
    "observedGeneration": 2,
    "replicas": 3,
    "availableReplicas": 3,
    "updatedReplicas": 3,
}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (READY, AVAILABLE),
        (READY | {"observedGeneration": 1}, NOT_YET),
        (READY | {"availableReplicas": 2}, NOT_YET),
        (READY | {"updatedReplicas": 2}, NOT_YET),
        (READY | {"unavailableReplicas": 1}, NOT_YET),
        (READY | {"availableReplicas": 4}, NOT_YET),
        ({}, NOT_YET),
    ],
)
def test_a_deployments_availability(status: dict[str, Any], expected: Availability) -> None:
    assert judge(DEPLOYMENT, live({"replicas": 3}, status)) is expected


def test_a_deployment_has_one_replica_unless_it_says_otherwise() -> None:
    one = READY | {"availableReplicas": 1, "updatedReplicas": 1}
    assert judge(DEPLOYMENT, live({}, one)) is AVAILABLE
    assert judge(DEPLOYMENT, live({}, READY)) is NOT_YET


def test_a_deployment_with_no_replicas_is_available_once_observed() -> None:
    assert judge(DEPLOYMENT, live({"replicas": 0}, {"observedGeneration": 2})) is AVAILABLE
    assert judge(DEPLOYMENT, live({"replicas": 0}, {})) is NOT_YET


def test_a_deployment_without_a_status_is_not_available() -> None:
    assert judge(DEPLOYMENT, {"metadata": {"generation": 1}, "spec": {}}) is NOT_YET


SETTLED = {
    "observedGeneration": 2,
    "availableReplicas": 2,
    "currentReplicas": 2,
    "updatedReplicas": 2,
    "currentRevision": "r1",
    "updateRevision": "r1",
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, AVAILABLE),
        ({"observedGeneration": 1}, NOT_YET),
        ({"availableReplicas": 1}, NOT_YET),
        ({"currentReplicas": 1}, NOT_YET),
        ({"updateRevision": "r2"}, NOT_YET),
    ],
)
def test_a_stateful_sets_availability(change: dict[str, Any], expected: Availability) -> None:
    assert judge(STATEFUL_SET, live({"replicas": 2}, SETTLED | change)) is expected


EVERYWHERE = {
    "observedGeneration": 2,
    "desiredNumberScheduled": 5,
    "numberAvailable": 5,
    "currentNumberScheduled": 5,
    "updatedNumberScheduled": 5,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, AVAILABLE),
        ({"observedGeneration": 1}, NOT_YET),
        ({"numberAvailable": 4}, NOT_YET),
        ({"updatedNumberScheduled": 4}, NOT_YET),
    ],
)
def test_a_daemon_sets_availability(change: dict[str, Any], expected: Availability) -> None:
    assert judge(DAEMON_SET, live({}, EVERYWHERE | change)) is expected


def test_a_daemon_set_without_nodes_is_available() -> None:
    assert judge(DAEMON_SET, live({}, {"observedGeneration": 2})) is AVAILABLE


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({"clusterIPs": ["10.0.0.1"]}, {}, AVAILABLE),
        ({"type": "ClusterIP", "clusterIPs": ["None"]}, {}, AVAILABLE),
        ({"type": "ClusterIP", "clusterIPs": [""]}, {}, NOT_YET),
        ({"type": "ClusterIP"}, {}, NOT_YET),
        ({"type": "NodePort", "clusterIPs": ["10.0.0.1"]}, {}, AVAILABLE),
        ({"type": "LoadBalancer", "clusterIPs": ["10.0.0.1"]}, {}, NOT_YET),
        ({"type": "LoadBalancer"}, {"loadBalancer": {"ingress": []}}, NOT_YET),
        ({"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}, AVAILABLE),
        ({"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [{"hostname": "a"}]}}, AVAILABLE),
        ({"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [{"ports": []}]}}, NOT_YET),
        ({"type": "ExternalName"}, {}, NOT_TRACKABLE),
    ],
)
def test_a_services_availability(
    spec: dict[str, Any], status: dict[str, Any], expected: Availability
) -> None:
    assert judge(SERVICE, live(spec, status)) is expected


@pytest.mark.parametrize(
    ("established", "accepted", "expected"),
    [("True", "True", AVAILABLE), ("False", "True", NOT_YET), ("True", "False", NOT_YET)],
)
def test_a_crds_availability(established: str, accepted: str, expected: Availability) -> None:
    conditions = [
        {"type": "Established", "status": established},
        {"type": "NamesAccepted", "status": accepted},
    ]
    assert judge(CUSTOM_RESOURCE_DEFINITION, live({}, {"conditions": conditions})) is expected


@pytest.mark.parametrize(
    ("allowed", "status", "observed", "expected"),
    [
        (1, "True", 2, AVAILABLE),
        (0, "False", 2, AVAILABLE),
        (1, "False", 2, NOT_YET),
        (0, "True", 2, NOT_YET),
        (1, "True", 1, NOT_YET),
    ],
)
def test_a_disruption_budgets_availability(
    allowed: int, status: str, observed: int, expected: Availability
) -> None:
    condition = {"type": "DisruptionAllowed", "status": status, "observedGeneration": observed}
    said = {"observedGeneration": 2, "disruptionsAllowed": allowed, "conditions": [condition]}
    assert judge(BUDGET, live({}, said)) is expected


@pytest.mark.parametrize(
    ("group", "plural", "expected"),
    [
        ("", "namespaces", AVAILABLE),
        ("", "secrets", AVAILABLE),
        ("", "configmaps", AVAILABLE),
        ("rbac.authorization.k8s.io", "clusterrolebindings", AVAILABLE),
        ("storage.k8s.io", "storageclasses", AVAILABLE),
        ("scheduling.k8s.io", "priorityclasses", AVAILABLE),
        ("batch", "jobs", NOT_TRACKABLE),
        ("", "pods", NOT_TRACKABLE),
        ("", "persistentvolumeclaims", NOT_TRACKABLE),
        ("example.com", "configmaps", NOT_TRACKABLE),
    ],
)
def test_a_kind_without_a_status(group: str, plural: str, expected: Availability) -> None:
    kind = Kind(group, "v1", plural, plural, namespaced=True)
    assert judge(kind, {"metadata": {}}) is expected
