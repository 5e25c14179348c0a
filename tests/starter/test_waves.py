"""Waves of clusters in a stage (contract: update-runs 8.3, 8.7)."""

from datetime import timedelta
from typing import Any

import pytest

from api.runs import ClusterStatus, StageStatus
from api.strategies import Stage, StageTask
from planning.runs import estimating

APPROVAL = StageTask.from_wire({"type": "Approval"})


def stage(**fields: Any) -> Stage:
    return Stage(name="one", **fields)


def entry(names: str) -> StageStatus:
    return StageStatus(stage_name="one", clusters=[ClusterStatus(cluster_name=c) for c in names])


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1, ["a", "b", "c", "d", "e"]),
        (2, ["ab", "cd", "e"]),
        ("50%", ["ab", "cd", "e"]),
        ("100%", ["abcde"]),
        ("1%", ["a", "b", "c", "d", "e"]),
        (99, ["abcde"]),
    ],
)
def test_clusters_follow_each_other_in_waves(limit: int | str, expected: list[str]) -> None:
    found = estimating.waves(stage(max_concurrency=limit), entry("abcde"))
    assert ["".join(wave) for wave in found] == expected


def test_a_stage_without_clusters_has_no_waves() -> None:
    assert estimating.waves(stage(), entry("")) == []


def test_the_minimum_duration_is_the_sum_of_all_waits() -> None:
    waiting = [StageTask(type="TimedWait", wait_time=wait) for wait in ("90s", "1h")]
    stages = [
        stage(after_stage_tasks=[waiting[0], APPROVAL]),
        stage(before_stage_tasks=[APPROVAL]),
        stage(after_stage_tasks=[waiting[1]]),
    ]
    assert estimating.least_time(stages) == timedelta(hours=1, seconds=90)
    assert [estimating.approvals_of(each) for each in stages] == [1, 1, 0]
