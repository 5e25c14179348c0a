"""Which changes of objects can affect a run in progress (contract: update-runs 9)."""

from typing import Any

import pytest

from bridge import run_dependencies
from hub import Change
from tests.support.conditions import condition

KEY = ("", "it")
POLICY: dict[str, Any] = {
    "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
    "kind": "ClusterSchedulingPolicySnapshot",
    "metadata": {
        "name": "web-0",
        "generation": 1,
        "labels": {"kubernetes-fleet.io/policy-index": "0"},
    },
    "spec": {"policyHash": "aGFzaA=="},
}


def binding(**spec: str) -> dict[str, Any]:
    fields = {"state": "Scheduled", "schedulingPolicySnapshotName": "web-0", "targetCluster": "a"}
    return {"metadata": {"name": "it"}, "spec": fields | spec}


@pytest.mark.parametrize(
    ("spec", "decides"),
    [
        ({"state": "Bound", "resourceSnapshotName": "web-1-snapshot"}, False),
        ({"state": "Unscheduled"}, True),
        ({"schedulingPolicySnapshotName": "web-1"}, True),
        ({"targetCluster": "b"}, True),
    ],
    ids=["what a run writes", "given up", "of another policy", "for another cluster"],
)
def test_only_the_fields_that_the_scheduler_writes_matter_in_a_binding(
    spec: dict[str, str], decides: bool
) -> None:
    change = Change(KEY, binding(), binding(**spec))
    assert run_dependencies.differs(change, run_dependencies.part_of_binding) is decides


@pytest.mark.parametrize(("old", "new"), [(binding(), None), (None, binding())])
def test_creating_or_deleting_a_binding_matters(old: Any, new: Any) -> None:
    assert run_dependencies.differs(Change(KEY, old, new), run_dependencies.part_of_binding)


def test_only_the_labels_of_a_cluster_matter() -> None:
    before = {"metadata": {"name": "a", "labels": {"env": "one"}}, "status": {"beat": 1}}
    beat = {**before, "status": {"beat": 2}}
    moved = {"metadata": {"name": "a", "labels": {"env": "two"}}}
    assert not run_dependencies.differs(Change(KEY, before, beat), run_dependencies.part_of_cluster)
    assert run_dependencies.differs(Change(KEY, before, moved), run_dependencies.part_of_cluster)


def test_the_scheduling_condition_of_a_policy_snapshot_matters() -> None:
    scheduled = condition("Scheduled")
    status = {"observedCRPGeneration": 1, "conditions": [scheduled]}
    done = {**POLICY, "status": status}
    again = {**POLICY, "status": {**status, "observedCRPGeneration": 2}}
    assert run_dependencies.differs(Change(KEY, POLICY, done), run_dependencies.part_of_policy)
    assert not run_dependencies.differs(Change(KEY, done, again), run_dependencies.part_of_policy)
