"""Properties of a cluster, and how its MemberCluster reports them (contract: placement 11)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.base import ObjectMeta
from api.members import MemberCluster, MemberClusterSpec, MemberClusterStatus, RbacSubject
from planning.members.member_conditions import alive
from planning.members.properties import Observed, observe, reported

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def node(cpu: str, memory: str, *, reserved: str = "0") -> Json:
    capacity = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {"status": {"capacity": capacity, "allocatable": capacity | {"cpu": reserved or cpu}}}


def pod(*requests: dict[str, str] | None) -> Json:
    containers = [
        {"name": "c", "resources": {} if each is None else {"requests": each}} for each in requests
    ]
    return {"spec": {"containers": containers}}


def seen(nodes: list[Json], pods: list[Json]) -> Observed:
    return observe(nodes, pods, version="v1.34.4", now=NOW)


def test_the_resources_of_all_nodes_are_summed_up() -> None:
    nodes = [node("4", "16Gi", reserved="3800m"), node("2", "8Gi", reserved="1900m")]
    found = seen(nodes, [])
    assert found.nodes == 2
    assert found.capacity == {"cpu": "6", "memory": "24Gi"}
    assert found.allocatable == {"cpu": "5700m", "memory": "24Gi"}
    assert found.available == found.allocatable


def test_resources_requested_by_pods_are_not_available() -> None:
    pods = [
        pod({"cpu": "500m", "memory": "1Gi"}, {"cpu": "250m"}),
        pod({"memory": "512Mi"}),
        pod(None),
    ]
    found = seen([node("4", "16Gi", reserved="4")], pods)
    assert found.available == {"cpu": "3250m", "memory": "14848Mi"}


def test_available_resources_are_never_negative() -> None:
    pods = [pod({"cpu": "2", "memory": "1Gi"})]
    assert seen([], pods).available == {"cpu": "0", "memory": "0"}


@pytest.mark.parametrize("broken", [{}, {"status": {}}, node("many", "16 GB", reserved="some")])
def test_a_node_without_valid_capacity_still_counts_as_a_node(broken: Json) -> None:
    found = seen([broken], [])
    assert (found.nodes, found.capacity) == (1, {"cpu": "0", "memory": "0"})


def member(status: MemberClusterStatus | None = None) -> MemberCluster:
    return MemberCluster(
        metadata=ObjectMeta(name="member1", generation=3),
        spec=MemberClusterSpec(identity=RbacSubject(kind="User", name="member1")),
        status=status or MemberClusterStatus(),
    )


def report(
    observed: Observed | None,
    *,
    before: MemberClusterStatus | None = None,
    problem: str = "",
    now: datetime = NOW,
) -> MemberClusterStatus:
    whole = member(before)
    return reported(alive(whole, now=now), observed, member=whole, problem=problem, now=now)


def test_a_member_reports_its_properties_along_with_its_health() -> None:
    wire = report(seen([node("4", "16Gi", reserved="3")], [])).to_wire()
    at = "2026-01-02T03:04:05Z"
    assert wire["properties"] == {
        "kubernetes-fleet.io/node-count": {"value": "1", "observationTime": at},
        "k8s.io/k8s-version": {"value": "v1.34.4", "observationTime": at},
    }
    assert wire["resourceUsage"] == {
        "capacity": {"cpu": "4", "memory": "16Gi"},
        "allocatable": {"cpu": "3", "memory": "16Gi"},
        "available": {"cpu": "3", "memory": "16Gi"},
        "observationTime": at,
    }
    said = {each["type"]: each for each in wire["conditions"]}
    assert set(said) == {
        "ReadyToJoin",
        "Joined",
        "Healthy",
        "ClusterPropertyProviderStarted",
        "ClusterPropertyCollectionSucceeded",
    }
    assert said["ClusterPropertyProviderStarted"] == {
        "type": "ClusterPropertyProviderStarted",
        "status": "True",
        "reason": "Started",
        "message": "The property provider has started successfully",
        "observedGeneration": 3,
        "lastTransitionTime": at,
    }
    assert said["ClusterPropertyCollectionSucceeded"] == {
        "type": "ClusterPropertyCollectionSucceeded",
        "status": "True",
        "reason": "PropertiesCollected",
        "message": "The property provider has returned the latest cluster properties",
        "observedGeneration": 3,
        "lastTransitionTime": at,
    }
    assert wire["agentStatus"][0]["type"] == "MemberAgent"


def test_conditions_keep_their_times_while_collection_succeeds() -> None:
    first = report(seen([], []))
    second = report(seen([], []), before=first, now=LATER)
    assert second.conditions == first.conditions


def test_a_failed_collection_is_reported_and_known_properties_stay() -> None:
    known = seen([node("4", "16Gi", reserved="4")], [])
    first = report(known)

    second = report(known, before=first, problem="nodes is forbidden", now=LATER)

    failed = second.conditions[-1]
    assert (failed.status, failed.reason) == ("False", "FailedToCollect")
    assert failed.message == "Failed to collect the cluster properties: nodes is forbidden"
    assert failed.last_transition_time == LATER
    assert (second.properties, second.resource_usage) == (first.properties, first.resource_usage)


def test_a_new_agent_keeps_the_reported_properties_until_it_has_its_own() -> None:
    first = report(seen([node("4", "16Gi", reserved="4")], []))
    others = first.model_copy(deep=True)
    others.properties["example.com/of-somebody-else"] = first.properties["k8s.io/k8s-version"]

    second = report(None, before=others, problem="no answer", now=LATER)

    assert (second.properties, second.resource_usage) == (first.properties, first.resource_usage)
