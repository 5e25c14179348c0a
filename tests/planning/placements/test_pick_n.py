"""How many clusters PickN picks, which, and which stay (contract: placement 2.2, 4)."""

from typing import Any

import pytest

from planning.placements.scheduling import MAX_UNPICKED, Held
from tests.planning.placements.fleets import (
    TAINT,
    both,
    decide,
    holding,
    labelled,
    member,
    names,
    pick,
    preferred,
    reasons,
    required,
)

THREE = [member(f"member{number}") for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("count", "picked", "fulfilled"),
    [
        (0, [], True),
        (1, ["member3"], True),
        (2, ["member3", "member2"], True),
        (3, ["member3", "member2", "member1"], True),
        (4, ["member3", "member2", "member1"], False),
    ],
)
def test_among_equals_the_last_name_is_picked(
    count: int, picked: list[str], fulfilled: bool
) -> None:
    made = decide(pick(count), *THREE)
    assert (names(made), made.fulfilled) == (picked, fulfilled)


def test_decisions_list_picked_and_unpicked_clusters() -> None:
    made = decide(pick(1, affinity=preferred((7, labelled(env="b")))), *THREE[:2])
    assert [each.to_wire() for each in made.decisions] == [
        {
            "clusterName": "member2",
            "selected": True,
            "clusterScore": {"affinityScore": 0, "priorityScore": 0},
            "reason": 'Successfully scheduled resources for placement in "member2" '
            "(affinity score: 0, topology spread score: 0): picked by scheduling policy",
        },
        {
            "clusterName": "member1",
            "selected": False,
            "clusterScore": {"affinityScore": 0, "priorityScore": 0},
            "reason": 'Cluster "member1" does not score high enough '
            "(affinity score: 0, topology spread score: 0)",
        },
    ]


def test_a_policy_that_finds_too_few_says_why() -> None:
    # Situation "unfulfilled PickN" of the reference.
    east = [member(f"member{number}", labels={"region": "east"}) for number in (1, 2)]
    policy = pick(3, affinity=required(labelled(region="east")))

    made = decide(policy, *east, member("member3", labels={"region": "west"}))

    assert names(made) == ["member2", "member1"]
    assert not made.fulfilled
    assert made.unpicked[0].to_wire() == {
        "clusterName": "member3",
        "selected": False,
        "reason": "ClusterUnschedulable, "
        "cluster does not match with any of the required cluster affinity terms",
    }


def test_only_the_best_twenty_of_the_others_are_listed() -> None:
    others = [member(f"m{number:02}", labels={"env": "b"}) for number in range(30)]
    tainted = [member(f"a{number}", taints=[TAINT]) for number in range(5)]
    made = decide(pick(1, affinity=preferred((5, labelled(env="b")))), *tainted, *others)
    listed = [each.cluster_name for each in made.decisions]
    assert listed == [f"m{number:02}" for number in range(29, 29 - MAX_UNPICKED - 1, -1)]


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": {"env": "b"}},
        {"labels": {"env": "a"}, "taints": [TAINT]},
        {"labels": {"env": "a"}, "heartbeat": 60},
    ],
)
def test_clusters_that_the_same_policy_picked_stay_and_keep_their_decisions(
    changed: dict[str, Any],
) -> None:
    policy = pick(1, affinity=required(labelled(env="a")))
    better = member("z", labels={"env": "a"})

    made = decide(policy, member("m", **changed), better, held=holding("m", affinity_score=3))

    assert names(made) == ["m"]
    assert made.picked[0].reason == "of before"
    assert list(reasons(made)) == ["z"]


def test_growing_adds_the_best_of_the_others() -> None:
    made = decide(pick(2), *THREE, held=holding("member1"))
    assert names(made) == ["member3", "member1"]
    assert {each.cluster_name: each.reason for each in made.picked}["member1"] == "of before"


def test_a_leaving_member_is_replaced() -> None:
    members = [member("a"), member("b"), member("c", leaving=True)]
    made = decide(pick(2), *members, held=holding("b", "c"))
    assert names(made) == ["b", "a"]
    assert reasons(made) == {"c": "ClusterUnschedulable, cluster has left the fleet"}


def test_a_missing_member_is_replaced() -> None:
    assert names(decide(pick(2), *THREE[:2], held=holding("member2", "member3"))) == [
        "member2",
        "member1",
    ]


@pytest.mark.parametrize(
    ("held", "stay"),
    [
        (holding("member1", "member2", "member3"), ["member3"]),
        (
            both(holding("member1", affinity_score=5), holding("member2", "member3")),
            ["member1"],
        ),
        (
            both(holding("member1", spread_score=1), holding("member2", affinity_score=50)),
            ["member1"],
        ),
        (
            both(holding("member1"), holding("member2", "member3", bound=False)),
            ["member1"],
        ),
        (
            both(
                holding("member1", affinity_score=-5),
                holding("member2", affinity_score=90, bound=False),
            ),
            ["member1"],
        ),
    ],
    ids=["smaller name", "lower score", "spread before affinity", "nothing placed", "bound stays"],
)
def test_shrinking_drops_the_worst_cluster(held: Held, stay: list[str]) -> None:
    made = decide(pick(1), *THREE, held=held)
    assert names(made) == stay
    assert made.fulfilled


def test_shrinking_to_zero_drops_all_clusters() -> None:
    made = decide(pick(0), *THREE, held=holding("member1", "member2"))
    assert (names(made), made.fulfilled) == ([], True)


def test_shrinking_and_growing_again_leads_back_to_the_same_clusters() -> None:
    before = names(decide(pick(3), *THREE))
    fewer = names(decide(pick(2), *THREE, held=holding(*before)))
    again = names(decide(pick(3), *THREE, held=holding(*fewer)))
    assert (fewer, again) == (["member3", "member2"], before)


def test_among_equals_clusters_of_an_earlier_policy_stay() -> None:
    made = decide(pick(1), *THREE, held=Held(earlier=frozenset({"member1"})))
    assert names(made) == ["member1"]


def test_a_better_cluster_replaces_one_of_an_earlier_policy() -> None:
    policy = pick(1, affinity=preferred((1, labelled(env="b"))))
    better = member("member0", labels={"env": "b"})
    made = decide(policy, better, *THREE, held=Held(earlier=frozenset({"member1"})))
    assert names(made) == ["member0"]


def test_a_cluster_of_an_earlier_policy_counts_even_if_its_agent_is_silent() -> None:
    silent = member("member1", heartbeat=60)
    made = decide(pick(1), silent, *THREE[1:], held=Held(earlier=frozenset({"member1"})))
    assert names(made) == ["member1"]


def test_scheduling_again_gives_the_same_result() -> None:
    policy = pick(2, affinity=preferred((5, labelled(env="b"))))
    members = [*THREE, member("other", labels={"env": "b"})]
    first = decide(policy, *members)
    kept = Held(
        current={each.cluster_name: holding(each.cluster_name).current[each.cluster_name]
                 for each in first.picked}
    )  # fmt: skip
    again = decide(policy, *members, held=kept)
    assert set(names(again)) == set(names(first))
    assert reasons(again) == reasons(first)
