"""Spreading over the values of a label (contract: placement 2.2, 4)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.members import MemberCluster
from tests.planning.placements.fleets import (
    Json,
    decide,
    holding,
    labelled,
    member,
    names,
    pick,
    preferred,
    reasons,
    scores,
    spread_over,
)


def zones(**counts: int) -> list[MemberCluster]:
    """Return so many members in each zone, named after it."""
    return [
        member(f"{zone}{number}", labels={"zone": zone})
        for zone, count in counts.items()
        for number in range(1, count + 1)
    ]


def spread(count: int, *constraints: Json, **others: Json) -> Json:
    return pick(count, topologySpreadConstraints=list(constraints), **others)


def violated(key: str, skew: int) -> str:
    return (
        "ClusterUnschedulable, "
        f'violated doNotSchedule topology spread constraint "{key}" (max skew {skew})'
    )


def test_the_value_with_the_fewest_picked_clusters_comes_first() -> None:
    made = decide(spread(4, spread_over("zone")), *zones(a=3, b=3))
    assert Counter(name[0] for name in names(made)) == {"a": 2, "b": 2}


def test_each_cluster_has_the_score_of_the_time_it_was_picked() -> None:
    made = decide(spread(2, spread_over("zone")), *zones(a=1, b=2))
    picked = {each.cluster_name for each in made.picked}
    assert picked == {"b2", "a1"}
    assert {name: scores(made)[name] for name in picked} == {"b2": (0, -1), "a1": (0, 1)}
    assert made.picked[0].reason == (
        'Successfully scheduled resources for placement in "a1" '
        "(affinity score: 0, topology spread score: 1): picked by scheduling policy"
    )
    assert reasons(made) == {
        "b1": 'Cluster "b1" does not score high enough '
        "(affinity score: 0, topology spread score: -1)"
    }


@pytest.mark.parametrize(("skew", "picked"), [(1, 3), (2, 4), (3, 5)])
def test_only_as_many_clusters_as_the_skew_allows_are_picked(skew: int, picked: int) -> None:
    made = decide(spread(6, spread_over("zone", skew=skew)), *zones(a=6, b=1))
    assert len(made.picked) == picked
    assert not made.fulfilled
    assert set(reasons(made).values()) == {violated("zone", skew)}


def test_a_soft_constraint_is_violated_last() -> None:
    made = decide(spread(4, spread_over("zone", strict=False)), *zones(a=4, b=1))
    assert made.fulfilled
    assert names(made) == ["a4", "b1", "a3", "a2"]
    assert [scores(made)[each] for each in names(made)] == [(0, 1), (0, -1), (0, -1), (0, -1000)]
    assert scores(made)["a1"] == (0, -1000)


def test_spreading_takes_precedence_over_preferences() -> None:
    policy = spread(
        2, spread_over("zone", strict=False), affinity=preferred((100, labelled(zone="a")))
    )
    assert Counter(each[0] for each in names(decide(policy, *zones(a=2, b=1)))) == {"a": 1, "b": 1}


def test_preferences_decide_between_equally_spread_clusters() -> None:
    policy = spread(1, spread_over("zone"), affinity=preferred((5, labelled(zone="a"))))
    assert names(decide(policy, *zones(a=1, b=1))) == ["a1"]


def test_a_cluster_without_the_label_is_ignored() -> None:
    made = decide(spread(4, spread_over("zone")), *zones(a=2, b=1), member("none"))
    assert set(names(made)) == {"none", "a2", "b1", "a1"}
    assert scores(made)["none"] == (0, 0)


def test_a_label_that_no_member_has_does_not_constrain() -> None:
    made = decide(spread(2, spread_over("nowhere")), *zones(a=2))
    assert len(made.picked) == 2


def test_with_one_value_there_is_nothing_to_balance() -> None:
    made = decide(spread(3, spread_over("zone")), *zones(a=3))
    assert made.fulfilled


def test_a_value_counts_even_if_its_members_cannot_be_picked() -> None:
    away = member("c1", labels={"zone": "c"}, joined="False")
    made = decide(spread(4, spread_over("zone")), *zones(a=2, b=2), away)
    assert Counter(each[0] for each in names(made)) == {"a": 1, "b": 1}
    assert {reasons(made)[each] for each in ("a1", "b1")} == {violated("zone", 1)}


def test_clusters_that_are_already_picked_count() -> None:
    made = decide(spread(2, spread_over("zone")), *zones(a=3, b=1), held=holding("a1"))
    assert set(names(made)) == {"a1", "b1"}


@pytest.mark.parametrize("counts", [{"a": 3, "b": 2}, {"a": 4, "b": 3}])
def test_unbalanced_clusters_stay_but_none_is_added(counts: dict[str, int]) -> None:
    # Even a cluster that would reduce the skew is rejected while the skew stays above its limit.
    held = holding(*(f"a{number}" for number in range(1, counts["a"] + 1)))
    made = decide(spread(6, spread_over("zone")), *zones(**counts), held=held)
    assert set(names(made)) == set(held.current)
    assert set(reasons(made).values()) == {violated("zone", 1)}


def test_all_constraints_must_hold() -> None:
    members = [
        member("a1", labels={"zone": "a", "rack": "1"}),
        member("a2", labels={"zone": "a", "rack": "2"}),
        member("b1", labels={"zone": "b", "rack": "1"}),
        member("b2", labels={"zone": "b", "rack": "2"}),
    ]
    made = decide(spread(2, spread_over("zone"), spread_over("rack")), *members)
    assert names(made) == ["a1", "b2"]


@given(
    counts=st.lists(st.integers(1, 6), min_size=2, max_size=5),
    wanted=st.integers(0, 20),
    skew=st.integers(1, 3),
)
def test_the_skew_never_exceeds_its_limit(counts: list[int], wanted: int, skew: int) -> None:
    members = zones(**{"abcde"[index]: count for index, count in enumerate(counts)})

    made = decide(spread(wanted, spread_over("zone", skew=skew)), *members)

    picked = Counter({"abcde"[index]: 0 for index in range(len(counts))})
    picked.update(name[0] for name in names(made))
    assert max(picked.values()) - min(picked.values()) <= skew
    possible = sum(min(count, min(counts) + skew) for count in counts)
    assert len(made.picked) == min(wanted, possible)
