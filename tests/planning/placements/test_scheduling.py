"""Which clusters a policy picks (contract: placement 2.2, 4, 11)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.base import format_time
from api.members import MemberCluster
from api.scheduling import PlacementPolicy
from planning.placements.eligibility import Candidate, candidate, ineligible
from planning.placements.scheduling import MAX_UNPICKED, Held, Schedule, schedule

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)


def ago(minutes: float) -> str:
    return format_time(NOW - timedelta(minutes=minutes))


def condition(kind: str, status: str, minutes: float = 60) -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": "Test",
        "message": "",
        "lastTransitionTime": ago(minutes),
    }


def member(
    name: str = "m",
    *,
    heartbeat: float | None = 0.1,
    joined: str = "True",
    healthy: Json | None = None,
    leaving: bool = False,
    **spec: Any,
) -> MemberCluster:
    conditions = [condition("Joined", joined), healthy or condition("Healthy", "True")]
    agent: Json = {"type": "MemberAgent", "conditions": conditions}
    if heartbeat is not None:
        agent["lastReceivedHeartbeat"] = ago(heartbeat)
    metadata: Json = {"name": name, "labels": spec.pop("labels", {})}
    if leaving:
        metadata["deletionTimestamp"] = ago(1)
    return MemberCluster.from_wire(
        {
            "metadata": metadata,
            "spec": {"identity": {"kind": "User", "name": name}} | spec,
            "status": {"agentStatus": [agent], "namespaces": {}},
        }
    )


def fleet(*members: MemberCluster) -> list[Candidate]:
    return [candidate(each, now=NOW) for each in members]


def decide(
    policy: Json | None, *members: MemberCluster, held: Held | None = None, namespace: str = ""
) -> Schedule:
    parsed = None if policy is None else PlacementPolicy.from_wire(policy)
    made = schedule(parsed, fleet(*members), held=held or Held(), namespace=namespace)
    assert made is not None
    return made


def names(made: Schedule) -> list[str]:
    return [each.cluster_name for each in made.picked]


def without_agent() -> MemberCluster:
    body = member()
    body.status.agent_status = []
    return body


def without_health() -> MemberCluster:
    body = member()
    body.status.agent_status[0].conditions.pop()
    return body


DISCONNECTED = "cluster is not connected to the fleet: "


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (member(), ""),
        (member(heartbeat=5), ""),
        (member(leaving=True), "cluster has left the fleet"),
        (without_agent(), DISCONNECTED + "member agent not online yet"),
        (
            member(heartbeat=7.5),
            DISCONNECTED + "no recent heartbeat signals (last received 7.50 minutes ago)",
        ),
        (member(joined="Unknown"), DISCONNECTED + "member agent not joined yet"),
        (
            without_health(),
            DISCONNECTED + "health condition from member agent is not available",
        ),
        (member(healthy=condition("Healthy", "False", 4)), ""),
        (
            member(healthy=condition("Healthy", "False", 6)),
            DISCONNECTED
            + "unhealthy for a prolonged period of time (last transitioned 6.00 minutes ago)",
        ),
    ],
)
def test_who_can_be_placed_on(body: MemberCluster, why: str) -> None:
    assert ineligible(body, now=NOW) == why


def test_without_a_policy_all_are_picked_in_the_order_of_their_names() -> None:
    made = decide(None, member("b"), member("a"))

    assert names(made) == ["a", "b"]
    assert made.fulfilled
    assert made.decisions[0].to_wire() == {
        "clusterName": "a",
        "selected": True,
        "clusterScore": {"affinityScore": 0, "priorityScore": 0},
        "reason": (
            'Successfully scheduled resources for placement in "a" (affinity score: 0, '
            "topology spread score: 0): picked by scheduling policy"
        ),
    }


def test_pick_all_is_fulfilled_by_nothing() -> None:
    made = decide({"placementType": "PickAll"})
    assert (made.picked, made.fulfilled) == ((), True)


def test_only_some_of_those_left_out_are_listed() -> None:
    away = [member(f"m{number:02}", joined="False") for number in range(MAX_UNPICKED + 5)]
    assert len(decide(None, *away).decisions) == MAX_UNPICKED


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "is_picked"),
    [
        (None, False),
        ({"key": "gpu", "operator": "Equal", "value": "yes"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "cpu", "operator": "Exists"}, False),
    ],
)
def test_taints_and_tolerations(toleration: Json | None, is_picked: bool) -> None:
    tolerations = [toleration] if toleration else []
    policy = {"placementType": "PickAll", "tolerations": tolerations}

    made = decide(policy, member(taints=[TAINT]))

    assert bool(made.picked) is is_picked
    if not is_picked:
        assert made.unpicked[0].reason == (
            "ClusterUnschedulable, taint &{Key:gpu Value:yes Effect:NoSchedule} cannot be tolerated"
        )


def affinity(*terms: Json) -> Json:
    required = {"clusterSelectorTerms": list(terms)}
    return {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_affinity_terms_are_alternatives() -> None:
    terms = [{"labelSelector": {"matchLabels": {"env": env}}} for env in ("a", "b")]
    policy = {"placementType": "PickAll", "affinity": affinity(*terms)}

    made = decide(policy, *(member(env, labels={"env": env}) for env in ("a", "b", "c")))

    assert names(made) == ["a", "b"]
    assert made.unpicked[0].reason == (
        "ClusterUnschedulable, "
        "cluster does not match with any of the required cluster affinity terms"
    )


def test_what_the_same_policy_picked_stays_whatever_becomes_of_its_labels() -> None:
    policy = {
        "placementType": "PickAll",
        "affinity": affinity({"labelSelector": {"matchLabels": {"env": "a"}}}),
    }
    held = Held(current=frozenset({"m"}))
    assert names(decide(policy, member(joined="False", taints=[TAINT]), held=held)) == ["m"]


def test_what_an_earlier_policy_picked_is_judged_again_but_for_a_silent_agent() -> None:
    held = Held(earlier=frozenset({"away", "tainted"}))
    made = decide(None, member("away", heartbeat=9), member("tainted", taints=[TAINT]), held=held)
    assert names(made) == ["away"]


def test_a_member_that_leaves_is_not_picked_even_if_it_was() -> None:
    held = Held(current=frozenset({"m"}), earlier=frozenset({"m"}))
    for policy in (None, {"placementType": "PickFixed", "clusterNames": ["m"]}):
        assert names(decide(policy, member(leaving=True), held=held)) == []


def test_a_namespaced_placement_needs_its_namespace_where_that_is_known() -> None:
    known, other, unknown = member("known"), member("other"), member("unknown")
    known.status.namespaces = {"app": ""}
    other.status.namespaces = {"web": ""}

    made = decide(None, known, other, unknown, namespace="app")

    assert names(made) == ["known", "unknown"]
    why = "ClusterUnschedulable, target namespace does not exist on cluster"
    assert made.unpicked[0].reason == why


def test_fixed_names_are_taken_as_they_stand() -> None:
    policy = {"placementType": "PickFixed", "clusterNames": ["b", "a", "nowhere", "away"]}

    made = decide(policy, member("a", taints=[TAINT]), member("b"), member("away", joined="False"))

    assert names(made) == ["b", "a"]
    assert made.picked[0].to_wire() == {
        "clusterName": "b",
        "selected": True,
        "reason": (
            'Successfully scheduled resources for placement in "b": picked by scheduling policy'
        ),
    }
    assert [each.reason for each in made.unpicked] == [
        'Specified cluster "nowhere" is not found',
        (
            'Cluster "away" is not eligible for resource placement yet: '
            "cluster is not connected to the fleet: member agent not joined yet"
        ),
    ]
    assert not made.fulfilled


PROPERTY = {"name": "k8s.io/k8s-version", "operator": "Eq", "values": ["1"]}


@pytest.mark.parametrize(
    "policy",
    [
        {"placementType": "PickN", "numberOfClusters": 1},
        {
            "placementType": "PickAll",
            "affinity": affinity({"propertySelector": {"matchExpressions": [PROPERTY]}}),
        },
    ],
)
def test_what_is_not_understood_is_not_decided(policy: Json) -> None:
    parsed = PlacementPolicy.from_wire(policy)
    assert schedule(parsed, fleet(member()), held=Held()) is None
