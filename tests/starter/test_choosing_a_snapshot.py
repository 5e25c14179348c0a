"""The snapshot that a rollback chooses, by the known runs, snapshots and clusters."""

from datetime import timedelta

import pytest

from api.base import Condition, ObjectMeta
from api.reasons import ConditionType
from api.runs import ClusterStagedUpdateRun, ClusterStatus, StageStatus, UpdateRun, UpdateRunSpec
from planning import conditions
from starter.rollback import choosing
from starter.rollback.choosing import RollbackError
from tests.planning.run_samples import NOW


def run(name: str, index: str, outcome: str, *, at: int = 0, strategy: str = "slow") -> UpdateRun:
    """Return a run of an index that is only planned, has begun `at` some minute, or is done."""
    moment = NOW + timedelta(minutes=at)

    def said(kind: ConditionType) -> list[Condition]:
        return [conditions.make(kind, "True", "Any", "", generation=1, now=moment)]

    cluster = ClusterStatus(cluster_name="a")
    if outcome != "planned":
        cluster.conditions = said(ConditionType.STARTED)
    spec = UpdateRunSpec(placement_name="web", staged_rollout_strategy_name=strategy)
    made = ClusterStagedUpdateRun(
        metadata=ObjectMeta(name=name, creation_timestamp=moment), spec=spec
    )
    made.status.resource_snapshot_index_used = index
    made.status.stages_status = [StageStatus(stage_name="one", clusters=[cluster])]
    made.status.conditions = said(ConditionType.SUCCEEDED) if outcome == "done" else []
    return made


V0, V1 = run("v0", "0", "done"), run("v1", "1", "done", at=1)
V2 = run("v2", "2", "begun", at=2)


@pytest.mark.parametrize(
    ("runs", "stored", "on_clusters", "index", "why", "left_out"),
    [
        pytest.param([V0, V1], "01", "1", "0", "completely (v0)", (), id="the one before"),
        pytest.param([V2, V0, V1], "012", "12", "1", "completely (v1)", (), id="in any order"),
        pytest.param(
            [V0, run("v1", "1", "begun", at=1), V2], "012", "2", "0", "(v0)", ("1",),
            id="a snapshot that failed halfway is skipped",
        ),
        pytest.param(
            [V0, run("v1", "1", "planned", at=1), V2], "012", "2", "0", "(v0)", ("1",),
            id="a snapshot that was only planned is skipped",
        ),
        pytest.param(
            [run("v1", "1", "begun", at=1), V2], "012", "2", "1", "started to roll out (v1)", (),
            id="a started rollout is better than none",
        ),
        pytest.param([V2], "012", "02", "0", "that clusters have", ("1",), id="still on clusters"),
        pytest.param([V2], "012", "2", "1", "no known run", (), id="nothing is known"),
        pytest.param(
            [V0, V1, V2, run("back", "1", "done", at=3)], "012", "1", "0", "(v0)", (),
            id="after a rollback further back, not forward again",
        ),
        pytest.param([V0, V1, V2], "02", "2", "0", "(v0)", (), id="a deleted snapshot is skipped"),
        pytest.param(
            [run(f"v{n}", str(n), "done", at=n) for n in (8, 9, 10)], ["8", "9", "10"], "",
            "9", "(v9)", (), id="indexes are numbers",
        ),
    ],
)  # fmt: skip
def test_the_best_earlier_snapshot_is_chosen(
    runs: list[UpdateRun],
    stored: list[str],
    on_clusters: str,
    index: str,
    why: str,
    left_out: tuple[str, ...],
) -> None:
    found = choosing.choose(runs, stored=stored, on_clusters=set(on_clusters))
    assert (found.index, found.left_out) == (index, left_out)
    assert why in found.why


@pytest.mark.parametrize(
    ("runs", "stored", "why"),
    [
        ([], "01", "no run of the placement has rolled anything out"),
        ([run("v1", "1", "planned")], "01", "no run of the placement has rolled anything out"),
        ([V0], "01", "run v0 rolled out snapshot 0, and no earlier snapshot is stored"),
        ([V1], "12", "run v1 rolled out snapshot 1, and no earlier snapshot is stored"),
    ],
)
def test_without_an_earlier_snapshot_the_error_says_why(
    runs: list[UpdateRun], stored: str, why: str
) -> None:
    with pytest.raises(RollbackError, match=why):
        choosing.choose(runs, stored=list(stored), on_clusters=[])


def test_the_strategy_is_that_of_the_run_that_started_last() -> None:
    planned = run("v2", "2", "planned", at=9, strategy="new")
    assert choosing.strategy([V1, planned, run("v0", "0", "done", strategy="old")]) == "slow"
    assert choosing.strategy([planned]) == "new"
    with pytest.raises(RollbackError, match="no strategy"):
        choosing.strategy([])
