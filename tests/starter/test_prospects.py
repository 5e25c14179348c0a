"""What a run will do next."""

from collections.abc import Callable

import pytest

from api.runs import ClusterStatus, StageStatus, UpdateRun
from api.selectors import LabelSelector
from api.strategies import Stage
from planning.runs import views
from starter.explain import prospects
from tests.starter.explaining import as_recorded, run_of

CANARY = "then stage canary: member3, member1, 1 at a time"
DONE = "then the run is done"


def then(moment: str, change: Callable[[UpdateRun], object] = as_recorded) -> tuple[str, ...]:
    run = run_of(moment, change)
    return prospects.of(run, views.of(run))


@pytest.mark.parametrize(
    ("moment", "steps"),
    [
        (
            "planned",
            (
                "then stage staging: member2",
                "after stage staging: a wait of 20s",
                f"{CANARY}, after an approval",
                DONE,
            ),
        ),
        (
            "first-cluster-in-flight",
            ("after stage staging: a wait of 20s", f"{CANARY}, after an approval", DONE),
        ),
        ("timed-wait", (f"{CANARY}, after an approval", DONE)),
        ("approval-before-canary", (CANARY, "after stage canary: an approval", DONE)),
        ("approval-after-canary", (DONE,)),
        (
            "stopped",
            (
                "then member1 in stage canary, 1 at a time",
                "after stage canary: an approval",
                DONE,
            ),
        ),
        ("stuck", ("then stage canary: member3, member1, 2 at a time, after an approval", DONE)),
        ("succeeded", ()),
    ],
)
def test_the_next_steps_are_listed_in_order(moment: str, steps: tuple[str, ...]) -> None:
    assert then(moment) == steps


def with_clusters(run: UpdateRun) -> None:
    run.status.stages_status[1].clusters = [
        ClusterStatus(cluster_name=f"c{n:03}") for n in range(200)
    ]


def test_of_many_clusters_the_first_are_named() -> None:
    assert then("approval-before-canary", with_clusters)[0] == (
        "then stage canary: c000, c001, c002 and 197 more, 100 at a time"
    )


def with_more_stages(run: UpdateRun) -> None:
    strategy = run.status.staged_update_strategy_snapshot
    assert strategy
    for name in ("late", "empty", "last"):
        strategy.stages.append(Stage(name=name, label_selector=LabelSelector()))
        clusters = [] if name == "empty" else [ClusterStatus(cluster_name=f"of-{name}")]
        run.status.stages_status.append(StageStatus(stage_name=name, clusters=clusters))


def test_later_stages_are_counted_without_empty_ones() -> None:
    assert then("timed-wait", with_more_stages)[1:] == ("then 2 more stages", DONE)


def with_a_cluster_to_remove(run: UpdateRun) -> None:
    deletion = run.status.deletion_stage_status
    assert deletion
    deletion.clusters = [ClusterStatus(cluster_name="gone")]


def test_clusters_to_be_removed_come_last() -> None:
    assert then("approval-after-canary", with_a_cluster_to_remove) == (
        "then removal from gone, no longer picked",
        DONE,
    )
