"""Changes of a member that cause a placement to be scheduled again (contract: placement 2.2, 4)."""

from typing import Any

import pytest

from api.scheduling import PlacementPolicy
from planning.placements.eligibility import Candidate
from planning.placements.scheduling import matters
from tests.planning.placements.fleets import (
    TAINT,
    Json,
    fleet,
    labelled,
    member,
    pick,
    preferred,
    required,
    sorted_by,
    with_property,
)

NODES = "kubernetes-fleet.io/node-count"
CPU = "resources.kubernetes-fleet.io/available-cpu"
PICK_ALL: Json = {"placementType": "PickAll"}
BY_NODES = PICK_ALL | {"affinity": required(labelled(a="b"), with_property(NODES, "Ge", "3"))}
SORTED = pick(1, affinity=preferred((1, sorted_by(CPU))))
NAMED: Json = {"placementType": "PickFixed", "clusterNames": ["m"]}
OTHER: Json = {"placementType": "PickFixed", "clusterNames": ["other"]}
NOBODY: Json = {"placementType": "PickFixed", "clusterNames": []}


def one(**changed: Any) -> Candidate:
    return fleet(member(**changed))[0]


def matter(
    policy: Json | None, old: Candidate | None, new: Candidate | None, *, fulfilled: bool
) -> bool:
    parsed = None if policy is None else PlacementPolicy.from_wire(policy)
    return matters(parsed, old, new, fulfilled=fulfilled)


@pytest.mark.parametrize("fulfilled", [True, False])
@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        (None, True),
        (PICK_ALL, True),
        (pick(1), True),
        (NAMED, True),
        (NOBODY, True),
        (OTHER, False),
    ],
)
def test_joining_and_leaving_members_matter_to_policies_that_could_pick_them(
    policy: Json | None, wanted: bool, fulfilled: bool
) -> None:
    there, leaving = one(), one(leaving=True)
    for old, new in [(None, there), (there, leaving), (leaving, None), (there, None)]:
        assert matter(policy, old, new, fulfilled=fulfilled) is wanted


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [(None, True), (PICK_ALL, True), (pick(1), True), (NAMED, False)],
)
@pytest.mark.parametrize(
    "changed", [{"labels": {"a": "b"}}, {"taints": [TAINT]}, {"namespaces": []}]
)
def test_labels_taints_and_namespaces_matter_to_all_but_fixed_policies(
    policy: Json | None, wanted: bool, changed: dict[str, Any]
) -> None:
    assert matter(policy, one(), one(**changed), fulfilled=True) is wanted


@pytest.mark.parametrize(
    ("policy", "fulfilled", "wanted"),
    [
        (None, True, True),
        (PICK_ALL, True, True),
        (pick(1), True, False),
        (pick(1), False, True),
        (NAMED, True, False),
        (NAMED, False, True),
        (OTHER, False, False),
    ],
)
def test_a_returning_agent_matters_to_policies_that_lack_a_cluster(
    policy: Json | None, fulfilled: bool, wanted: bool
) -> None:
    assert matter(policy, one(heartbeat=9), one(), fulfilled=fulfilled) is wanted


@pytest.mark.parametrize(
    ("policy", "fulfilled", "wanted"),
    [
        (PICK_ALL, True, False),
        (BY_NODES, True, True),
        (pick(1, affinity=BY_NODES["affinity"]), False, True),
        (pick(1, affinity=BY_NODES["affinity"]), True, False),
        (SORTED, False, False),
    ],
)
def test_a_property_matters_if_the_policy_names_it(
    policy: Json, fulfilled: bool, wanted: bool
) -> None:
    more = one(properties={NODES: "3"})
    assert matter(policy, one(), more, fulfilled=fulfilled) is wanted


@pytest.mark.parametrize(("fulfilled", "wanted"), [(True, False), (False, True)])
def test_a_sorting_property_matters_until_the_policy_is_fulfilled(
    fulfilled: bool, wanted: bool
) -> None:
    assert matter(SORTED, one(), one(available={"cpu": "1"}), fulfilled=fulfilled) is wanted


@pytest.mark.parametrize("policy", [None, BY_NODES, pick(1), SORTED, NAMED])
def test_a_heartbeat_alone_does_not_matter(policy: Json | None) -> None:
    assert not matter(policy, one(heartbeat=1), one(heartbeat=0), fulfilled=False)
