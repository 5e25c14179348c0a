"""Required and preferred labels and properties of clusters (contract: placement 2.2, 4)."""

import pytest

from tests.planning.placements.fleets import (
    Json,
    decide,
    labelled,
    member,
    names,
    pick,
    preferred,
    reasons,
    required,
    scores,
    sorted_by,
    with_property,
)

NODES = "kubernetes-fleet.io/node-count"
CPU = "resources.kubernetes-fleet.io/available-cpu"
MEMORY = "resources.kubernetes-fleet.io/available-memory"
UNATTRACTED = (
    "ClusterUnschedulable, cluster does not match with any of the required cluster affinity terms"
)


@pytest.mark.parametrize(
    ("operator", "value", "matches"),
    [
        ("Eq", "3", True),
        ("Eq", "3000m", True),
        ("Eq", "4", False),
        ("Ne", "3", False),
        ("Ne", "4", True),
        ("Gt", "2", True),
        ("Gt", "3", False),
        ("Ge", "3", True),
        ("Ge", "4", False),
        ("Lt", "4", True),
        ("Lt", "3", False),
        ("Le", "3", True),
        ("Le", "2", False),
        ("In", "3", False),
        ("Eq", "three", False),
        ("Ne", "three", False),
    ],
)
def test_a_property_is_compared_as_a_quantity(operator: str, value: str, matches: bool) -> None:
    policy = {
        "placementType": "PickAll",
        "affinity": required(with_property(NODES, operator, value)),
    }
    made = decide(policy, member(properties={NODES: "3"}))
    assert bool(made.picked) is matches
    assert reasons(made) == ({} if matches else {"m": UNATTRACTED})


@pytest.mark.parametrize("operator", ["Eq", "Ne", "Lt"])
@pytest.mark.parametrize("properties", [{}, {NODES: "v1.34.4"}])
def test_a_member_without_the_property_does_not_match(
    operator: str, properties: dict[str, str]
) -> None:
    policy = {"placementType": "PickAll", "affinity": required(with_property(NODES, operator, "3"))}
    assert names(decide(policy, member(properties=properties))) == []


def test_available_resources_of_a_member_are_properties() -> None:
    policy = {
        "placementType": "PickAll",
        "affinity": required(with_property(MEMORY, "Ge", "4Gi")),
    }
    made = decide(
        policy,
        member("large", available={"memory": "5000000Ki"}),
        member("small", available={"memory": "4G"}),
    )
    assert names(made) == ["large"]


def test_all_parts_of_a_term_must_match_and_one_term_is_enough() -> None:
    both = labelled(env="prod") | with_property(NODES, "Ge", "3")
    policy = {"placementType": "PickAll", "affinity": required(both, labelled(env="any"))}
    made = decide(
        policy,
        member("all", labels={"env": "prod"}, properties={NODES: "3"}),
        member("label", labels={"env": "prod"}, properties={NODES: "2"}),
        member("property", properties={NODES: "3"}),
        member("other", labels={"env": "any"}),
    )
    assert names(made) == ["all", "other"]


def test_an_empty_term_matches_everything() -> None:
    policy = {"placementType": "PickAll", "affinity": required({})}
    assert names(decide(policy, member())) == ["m"]


def test_a_sorter_in_a_required_term_has_no_effect() -> None:
    policy = {"placementType": "PickAll", "affinity": required(sorted_by(NODES))}
    assert names(decide(policy, member())) == ["m"]


def test_an_invalid_selector_matches_nothing() -> None:
    invalid = {"labelSelector": {"matchExpressions": [{"key": "env", "operator": "Nonsense"}]}}
    policy = {"placementType": "PickAll", "affinity": required(invalid)}
    assert names(decide(policy, member(labels={"env": "prod"}))) == []


def test_pick_all_ignores_preferences() -> None:
    policy = {"placementType": "PickAll", "affinity": preferred((50, labelled(env="prod")))}
    assert scores(decide(policy, member(labels={"env": "prod"}))) == {"m": (0, 0)}


def test_weights_of_all_matching_terms_add_up() -> None:
    terms = [(50, labelled(env="prod")), (30, labelled(tier="1")), (-20, labelled(old="yes"))]
    policy = pick(1, affinity=preferred(*terms))
    made = decide(
        policy,
        member("a", labels={"env": "prod", "tier": "1"}),
        member("b", labels={"env": "prod", "old": "yes"}),
        member("c", labels={"old": "yes"}),
        member("d"),
    )
    assert scores(made) == {"a": (80, 0), "b": (30, 0), "c": (-20, 0), "d": (0, 0)}
    assert names(made) == ["a"]
    assert list(reasons(made)) == ["b", "d", "c"], "the cluster closest to being picked comes first"


FLEET = [
    member("least", properties={NODES: "2"}),
    member("half", properties={NODES: "6"}),
    member("most", properties={NODES: "10"}),
    member("unknown"),
]


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ("Descending", {"least": 0, "half": 25, "most": 50, "unknown": 0}),
        ("Ascending", {"least": 50, "half": 25, "most": 0, "unknown": 0}),
    ],
)
def test_a_sorter_scales_the_weight_between_minimum_and_maximum(
    order: str, wanted: dict[str, int]
) -> None:
    made = decide(pick(0, affinity=preferred((50, sorted_by(NODES, order)))), *FLEET)
    assert {name: score for name, (score, _) in scores(made).items()} == wanted


@pytest.mark.parametrize(
    ("weight", "wanted"), [(1, 1), (-1, -1), (3, 2), (-3, -2), (100, 50), (0, 0)]
)
def test_halves_are_rounded_away_from_zero(weight: int, wanted: int) -> None:
    made = decide(pick(0, affinity=preferred((weight, sorted_by(NODES)))), *FLEET)
    assert scores(made)["half"] == (wanted, 0)


def test_a_sorter_counts_only_where_the_labels_match_but_measures_the_whole_fleet() -> None:
    policy = pick(1, affinity=preferred((10, sorted_by(NODES, env="prod"))))
    made = decide(
        policy,
        member("other", properties={NODES: "10"}),
        member("prod", labels={"env": "prod"}, properties={NODES: "5"}),
        member("away", joined="False", properties={NODES: "0"}),
    )
    assert scores(made) == {"prod": (5, 0), "other": (0, 0)}
    assert names(made) == ["prod"]


def test_a_sorter_earns_nothing_if_all_values_are_equal() -> None:
    policy = pick(1, affinity=preferred((10, sorted_by(NODES, "Ascending"))))
    members = [member(name, properties={NODES: "3"}) for name in ("a", "b")]
    assert set(scores(decide(policy, *members)).values()) == {(0, 0)}


def test_an_invalid_property_does_not_prevent_any_cluster_from_being_picked() -> None:
    policy = pick(2, affinity=preferred((10, sorted_by("k8s.io/k8s-version"))))
    members = [member(each, properties={"k8s.io/k8s-version": "v1.34.4"}) for each in ("a", "b")]
    assert names(decide(policy, *members)) == ["b", "a"]


def test_quantities_in_different_units_are_compared_by_value() -> None:
    policy = pick(1, affinity=preferred((10, sorted_by(CPU))))
    made = decide(
        policy,
        member("a", available={"cpu": "1500m"}),
        member("b", available={"cpu": "1"}),
        member("c", available={"cpu": "2"}),
    )
    assert scores(made) == {"a": (5, 0), "b": (0, 0), "c": (10, 0)}


@pytest.mark.parametrize(
    "preference",
    [with_property(NODES, "Ge", "100"), {}],
)
def test_a_preference_without_labels_and_sorter_applies_to_all_clusters(preference: Json) -> None:
    # A property selector is not allowed in a preferred term; KubeFleet's scheduler ignores it too.
    made = decide(pick(1, affinity=preferred((7, preference))), member())
    assert scores(made) == {"m": (7, 0)}
