"""Snapshots of a placement's policy (contract: placement 4)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api import names
from api.base import OwnerReference
from api.placements import Placement
from api.policies import ClusterDecision, PolicySnapshot
from planning.hashing import policy_hash
from planning.placements.policy_snapshots import (
    PolicyPlan,
    decided,
    in_force,
    latest_of,
    plan,
    superfluous,
)
from planning.placements.scheduling import Schedule

Json = dict[str, Any]
OWNER = OwnerReference(api_version="v1", kind="P", name="p", uid="u")
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PICK_ALL: Json = {"placementType": "PickAll"}
FIXED: Json = {"placementType": "PickFixed", "clusterNames": ["a"]}


def placement(policy: Json | None, *, generation: int = 1) -> Placement:
    spec: Json = {"resourceSelectors": []}
    if policy:
        spec["policy"] = policy
    metadata = {"name": "p", "uid": "u", "generation": generation}
    return Placement.from_wire(
        {"apiVersion": "v1", "kind": "P", "metadata": metadata, "spec": spec}
    )


def snapshot(
    index: int,
    policy: Json | None,
    *,
    latest: bool = True,
    annotations: dict[str, str] | None = None,
) -> PolicySnapshot:
    labels = {names.POLICY_INDEX: str(index), names.IS_LATEST_SNAPSHOT: str(latest).lower()}
    metadata = {
        "name": f"p-{index}",
        "generation": 1,
        "labels": labels,
        "annotations": {names.CRP_GENERATION: "1"} | (annotations or {}),
    }
    spec = {"policyHash": policy_hash(placement(policy).spec.policy)}
    return PolicySnapshot.from_wire(
        {"apiVersion": "v1", "kind": "S", "metadata": metadata, "spec": spec}
    )


def test_the_first_snapshot_has_index_zero() -> None:
    made = plan([], placement(PICK_ALL, generation=3), owner=OWNER)

    assert (made.latest, made.demote, made.patch) == ("p-0", (), None)
    assert made.create == {
        "metadata": {
            "name": "p-0",
            "labels": {
                names.PARENT_PLACEMENT: "p",
                names.IS_LATEST_SNAPSHOT: "true",
                names.POLICY_INDEX: "0",
            },
            "annotations": {names.CRP_GENERATION: "3"},
            "ownerReferences": [OWNER.to_wire()],
        },
        "spec": {
            "policyHash": policy_hash(placement(PICK_ALL).spec.policy),
            "policy": PICK_ALL,
        },
    }


def test_a_placement_without_a_policy_gets_a_snapshot_without_one() -> None:
    created = plan([], placement(None), owner=OWNER).create
    assert created is not None
    assert created["spec"].keys() == {"policyHash"}


def test_the_same_policy_keeps_its_snapshot() -> None:
    made = plan([snapshot(4, PICK_ALL)], placement(PICK_ALL), owner=OWNER)
    assert made == PolicyPlan((), "p-4")


def test_another_generation_with_the_same_policy_is_recorded() -> None:
    made = plan([snapshot(4, PICK_ALL)], placement(PICK_ALL, generation=2), owner=OWNER)

    assert made.create is None
    assert made.patch is not None
    assert made.patch["metadata"]["annotations"] == {names.CRP_GENERATION: "2"}


def test_another_number_of_clusters_keeps_the_snapshot() -> None:
    pick_n: Json = {"placementType": "PickN", "numberOfClusters": 2}
    known = snapshot(0, pick_n, annotations={names.NUMBER_OF_CLUSTERS: "2"})

    made = plan([known], placement(pick_n | {"numberOfClusters": 3}), owner=OWNER)

    assert made.create is None
    assert made.patch is not None
    assert made.patch["metadata"]["annotations"][names.NUMBER_OF_CLUSTERS] == "3"


def test_another_policy_gets_the_mark_and_the_next_index() -> None:
    known = [snapshot(9, PICK_ALL, latest=False), snapshot(10, PICK_ALL)]

    made = plan(known, placement(FIXED), owner=OWNER)

    assert (made.demote, made.latest) == (("p-10",), "p-11")


def test_an_earlier_policy_becomes_a_new_snapshot_again() -> None:
    known = [snapshot(0, PICK_ALL, latest=False), snapshot(1, FIXED)]
    assert plan(known, placement(PICK_ALL), owner=OWNER).latest == "p-2"


def test_the_oldest_snapshots_are_superfluous() -> None:
    known = [snapshot(index, PICK_ALL, latest=index == 10) for index in (10, 2, 9)]
    assert superfluous(known, keep=3) == []
    assert superfluous(known, keep=1) == ["p-2", "p-9"]


def test_the_newest_counts_if_its_writer_was_killed_before_marking_it() -> None:
    known = [snapshot(1, PICK_ALL, latest=False), snapshot(0, FIXED, latest=False)]
    found = latest_of(known)
    assert found is not None
    assert found.metadata.name == "p-1"
    assert plan(known, placement(PICK_ALL), owner=OWNER).patch is not None


def test_the_decision_is_recorded_for_the_placements_generation() -> None:
    picked = ClusterDecision(cluster_name="a", selected=True, reason="because")
    made = Schedule((picked,), (), fulfilled=True)

    status = decided(snapshot(0, PICK_ALL), made, placement_generation=5, now=NOW)

    assert status.to_wire() == {
        "observedCRPGeneration": 5,
        "conditions": [
            {
                "type": "Scheduled",
                "status": "True",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-01-02T03:04:05Z",
                "reason": "SchedulingPolicyFulfilled",
                "message": (
                    "found all cluster needed as specified by the scheduling policy, "
                    "found 1 cluster(s)"
                ),
            }
        ],
        "targetClusters": [{"clusterName": "a", "selected": True, "reason": "because"}],
    }


def test_an_unfulfilled_policy_says_so() -> None:
    status = decided(
        snapshot(0, FIXED), Schedule((), (), fulfilled=False), placement_generation=1, now=NOW
    )
    (said,) = status.conditions
    assert (said.status, said.reason) == ("False", "SchedulingPolicyUnfulfilled")
    assert said.message == (
        "could not find all clusters needed as specified by the scheduling policy, "
        "found 0 cluster(s) instead"
    )


AWAY = "cluster is not connected to the fleet: no recent heartbeat signals (last received {} ago)"


@pytest.mark.parametrize(
    ("before", "fresh", "said"),
    [
        (AWAY.format("5.01 minutes"), AWAY.format("9.99 minutes"), AWAY.format("5.01 minutes")),
        ("tainted", AWAY.format("9.99 minutes"), AWAY.format("9.99 minutes")),
        (AWAY.format("9.99 minutes"), "tainted", "tainted"),
    ],
)
def test_passing_minutes_alone_do_not_change_the_decision(
    before: str, fresh: str, said: str
) -> None:
    known = snapshot(0, PICK_ALL)
    known.status.target_clusters = [decision(before)]
    status = decided(
        known, Schedule((), (decision(fresh),), fulfilled=True), placement_generation=1, now=NOW
    )
    assert [each.reason for each in status.target_clusters] == [said]


def test_the_policy_in_force_has_the_latest_number() -> None:
    known = snapshot(
        0,
        {"placementType": "PickN", "numberOfClusters": 2},
        annotations={names.NUMBER_OF_CLUSTERS: "3", names.CRP_GENERATION: "7"},
    )
    known.spec.policy = placement({"placementType": "PickN", "numberOfClusters": 2}).spec.policy
    found = in_force(known)
    assert found.policy is not None
    assert (found.policy.number_of_clusters, found.generation) == (3, 7)
    assert found.snapshot is known


def test_a_snapshot_without_a_policy_gives_no_policy_in_force() -> None:
    found = in_force(snapshot(0, None))
    assert (found.policy, found.generation) == (None, 1)


def decision(reason: str) -> ClusterDecision:
    return ClusterDecision(cluster_name="m", selected=False, reason=reason)
