"""Clusters that PickAll and PickFixed pick (contract: placement 2.2, 4, 11)."""

import pytest

from planning.placements.scheduling import MAX_UNPICKED, Held
from tests.planning.placements.fleets import (
    TAINT,
    Json,
    decide,
    holding,
    labelled,
    member,
    names,
    reasons,
    required,
)


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


def test_pick_all_is_fulfilled_even_without_clusters() -> None:
    made = decide({"placementType": "PickAll"})
    assert (made.picked, made.fulfilled) == ((), True)


def test_only_some_unpicked_clusters_are_listed() -> None:
    away = [member(f"m{number:02}", joined="False") for number in range(MAX_UNPICKED + 5)]
    assert len(decide(None, *away).decisions) == MAX_UNPICKED


@pytest.mark.parametrize("placement_type", [{"placementType": "PickAll"}, {
    "placementType": "PickN", "numberOfClusters": 1
}])  # fmt: skip
@pytest.mark.parametrize(
    ("toleration", "is_picked"),
    [
        (None, False),
        ({"key": "gpu", "operator": "Equal", "value": "yes"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "cpu", "operator": "Exists"}, False),
    ],
)
def test_taints_and_tolerations(
    toleration: Json | None, is_picked: bool, placement_type: Json
) -> None:
    tolerations = [toleration] if toleration else []

    made = decide(placement_type | {"tolerations": tolerations}, member(taints=[TAINT]))

    assert bool(made.picked) is is_picked
    if not is_picked:
        assert made.unpicked[0].reason == (
            "ClusterUnschedulable, taint &{Key:gpu Value:yes Effect:NoSchedule} cannot be tolerated"
        )


def test_each_taint_needs_a_toleration() -> None:
    other = TAINT | {"key": "disk"}
    policy = {"placementType": "PickAll", "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    made = decide(policy, member(taints=[TAINT, other]))
    assert made.unpicked[0].reason.startswith("ClusterUnschedulable, taint &{Key:disk ")


def test_affinity_terms_are_alternatives() -> None:
    terms = [labelled(env="a"), labelled(env="b")]
    policy = {"placementType": "PickAll", "affinity": required(*terms)}

    made = decide(policy, *(member(env, labels={"env": env}) for env in ("a", "b", "c")))

    assert names(made) == ["a", "b"]
    assert reasons(made) == {
        "c": "ClusterUnschedulable, "
        "cluster does not match with any of the required cluster affinity terms"
    }


def test_the_first_cause_is_reported() -> None:
    policy = {"placementType": "PickAll", "affinity": required(labelled(env="a"))}
    wrong = member("wrong", heartbeat=9, taints=[TAINT])
    silent = member("silent", labels={"env": "a"}, heartbeat=9, taints=[TAINT])
    tainted = member("tainted", labels={"env": "a"}, taints=[TAINT], namespaces=["web"])

    said = reasons(decide(policy, wrong, silent, tainted, namespace="app"))

    assert "affinity terms" in said["wrong"]
    assert "no recent heartbeat signals" in said["silent"]
    assert "taint" in said["tainted"]


def test_a_cluster_that_the_same_policy_picked_stays_whatever_its_labels() -> None:
    policy = {"placementType": "PickAll", "affinity": required(labelled(env="a"))}
    changed = member(joined="False", taints=[TAINT])
    assert names(decide(policy, changed, held=holding("m"))) == ["m"]


def test_clusters_of_an_earlier_policy_are_judged_again_except_for_a_silent_agent() -> None:
    held = Held(earlier=frozenset({"away", "tainted"}))
    made = decide(None, member("away", heartbeat=9), member("tainted", taints=[TAINT]), held=held)
    assert names(made) == ["away"]


def test_a_policy_that_tolerates_less_drops_tainted_clusters() -> None:
    tolerant = {"placementType": "PickAll", "tolerations": [{"operator": "Exists"}]}
    tainted = member(taints=[TAINT])
    assert names(decide(tolerant, tainted)) == ["m"]
    assert names(decide(None, tainted, held=Held(earlier=frozenset({"m"})))) == []


@pytest.mark.parametrize("held", [holding("m"), Held(earlier=frozenset({"m"}))])
@pytest.mark.parametrize(
    "policy",
    [
        None,
        {"placementType": "PickFixed", "clusterNames": ["m"]},
        {"placementType": "PickN", "numberOfClusters": 1},
    ],
)
def test_a_leaving_member_is_not_picked_even_if_it_was_before(
    policy: Json | None, held: Held
) -> None:
    made = decide(policy, member(leaving=True), held=held)
    assert names(made) == []
    assert made.unpicked[0].reason.endswith("cluster has left the fleet")


def test_a_namespaced_placement_needs_its_namespace_if_namespaces_are_known() -> None:
    made = decide(
        None,
        member("known", namespaces=["app"]),
        member("other", namespaces=["web"]),
        member("none", namespaces=[]),
        member("unknown"),
        namespace="app",
    )

    assert names(made) == ["known", "unknown"]
    assert reasons(made) == {
        "none": "ClusterUnschedulable, cluster has no namespace information available",
        "other": "ClusterUnschedulable, target namespace does not exist on cluster",
    }


def test_a_cluster_scoped_placement_needs_no_namespace() -> None:
    assert names(decide(None, member(namespaces=["web"]))) == ["m"]


def test_pick_fixed_picks_the_named_clusters_in_their_order() -> None:
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


def test_a_name_listed_twice_is_one_cluster() -> None:
    policy = {"placementType": "PickFixed", "clusterNames": ["m", "m", "n", "n"]}
    made = decide(policy, member())
    assert (names(made), list(reasons(made))) == (["m"], ["n"])


def test_a_fixed_cluster_that_has_the_placement_keeps_it_while_its_agent_is_silent() -> None:
    policy = {"placementType": "PickFixed", "clusterNames": ["m"]}
    silent = member(heartbeat=9)
    assert names(decide(policy, silent)) == []
    assert names(decide(policy, silent, held=holding("m"))) == ["m"]
    assert names(decide(policy, silent, held=Held(earlier=frozenset({"m"})))) == ["m"]
