"""Which snapshots must not be pruned (contract: placement 4, 5 and 9)."""

from typing import Any

import pytest

from api.runs import ClusterStagedUpdateRun
from planning.runs import usage
from tests.support.conditions import AT, condition

Json = dict[str, Any]
CLUSTER: Json = {
    "clusterName": "a",
    "clusterResourceOverrideSnapshots": ["cro-1"],
    "resourceOverrideSnapshots": [{"name": "ro-1", "namespace": "app"}],
}


def run(
    *, index: str = "", used: str = "", policy: str = "", placement: str = "p", **ended: str
) -> Any:
    conditions = [condition(kind, status, None, at=AT) for kind, status in ended.items()]
    spec = {
        "placementName": placement,
        "resourceSnapshotIndex": index,
        "stagedRolloutStrategyName": "s",
    }
    stages = [{"stageName": "s", "clusters": [CLUSTER], "conditions": []}]
    status = {
        "policySnapshotIndexUsed": policy,
        "resourceSnapshotIndexUsed": used,
        "conditions": conditions,
        "stagesStatus": stages,
    }
    return ClusterStagedUpdateRun.from_wire(
        {"metadata": {"name": "r"}, "spec": spec, "status": status}
    )


@pytest.mark.parametrize(
    ("runs", "needed"),
    [
        ([], {"p-7-snapshot"}),
        ([run(index="1")], {"p-1-snapshot", "p-7-snapshot"}),
        ([run(used="2", Progressing="False")], {"p-2-snapshot", "p-7-snapshot"}),
        ([run(used="2", Succeeded="Unknown")], {"p-2-snapshot", "p-7-snapshot"}),
        ([run(used="2", Succeeded="True")], {"p-7-snapshot"}),
        ([run(used="2", Succeeded="False")], {"p-7-snapshot"}),
        ([run(index="2", Initialized="True")], {"p-2-snapshot", "p-7-snapshot"}),
        ([run(index="2", Initialized="False")], {"p-7-snapshot"}),
        ([run(used="2", placement="other")], {"p-7-snapshot"}),
        ([run()], {"p-7-snapshot"}),
    ],
)
def test_snapshots_of_bindings_and_runs_in_progress_are_in_use(runs: Any, needed: set[str]) -> None:
    bindings = [{"spec": {"resourceSnapshotName": name}} for name in ("p-7-snapshot", "")]
    assert usage.resource_snapshots(bindings, runs, placement="p") - {""} == needed


@pytest.mark.parametrize(
    ("runs", "needed"),
    [
        ([run(policy="3")], {"p-3"}),
        ([run(policy="3"), run(policy="4", Progressing="False")], {"p-3", "p-4"}),
        ([run(policy="3", Succeeded="True")], set()),
        ([run(policy="3", Succeeded="False")], set()),
        ([run(policy="3", Initialized="False")], set()),
        ([run(policy="3", placement="other")], set()),
        ([run()], set()),
    ],
)
def test_policy_snapshots_of_runs_in_progress_are_in_use(runs: Any, needed: set[str]) -> None:
    assert usage.policy_snapshots(runs, placement="p") == needed


def test_override_snapshots_of_bindings_are_in_use() -> None:
    resource = [{"name": "ro-0", "namespace": "app"}]
    bindings: list[Json] = [
        {"spec": {"clusterResourceOverrideSnapshots": ["cro-0"]}},
        {"spec": {"resourceOverrideSnapshots": resource}},
    ]
    assert usage.override_snapshots(bindings, []) == {("", "cro-0"), ("app", "ro-0")}


def test_override_snapshots_of_a_run_in_progress_are_in_use() -> None:
    assert usage.override_snapshots([], [run()]) == {("", "cro-1"), ("app", "ro-1")}
    assert usage.override_snapshots([], [run(Succeeded="True")]) == frozenset()
