"""Each mark sets the conditions and messages of the contract (update-runs 5, 8, 10, 11 and 14)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.base import Condition
from api.kinds import ScopeName
from api.reasons import RunReason
from api.runs import UpdateRunSpec
from api.selectors import LabelSelector
from api.strategies import Stage, StageTask, StageTaskType
from planning.identity import RunRef
from planning.runs import marks, tampering
from planning.runs.facts import ClusterFact
from planning.runs.ledger import DELETION, Ledger
from tests.planning.run_samples import (
    APPROVAL,
    LATER,
    NOW,
    WAIT,
    binding,
    facts,
    ledger,
    planned,
    stage,
    strategy,
)

WORKED = Path(__file__).parent / "data" / "worked_status.yaml"
Said = tuple[str, str, str, str]


def said(conditions: Iterable[Condition]) -> list[Said]:
    return [(each.type, each.status, each.reason, each.message) for each in conditions]


# -- the run -----------------------------------------------------------------------------------

INITIALIZED: Said = (
    "Initialized",
    "True",
    "UpdateRunInitializedSuccessfully",
    "The UpdateRun initialized successfully",
)
PROGRESSING: Said = (
    "Progressing",
    "True",
    "UpdateRunProgressing",
    "The update run is making progress",
)


def test_a_run_is_initialized() -> None:
    book = ledger()
    marks.run_initialized(book, NOW)
    assert said(book.status.conditions) == [INITIALIZED]


def test_a_run_that_cannot_be_planned_says_why_and_nothing_else() -> None:
    book = ledger()
    marks.run_not_initialized(book, "the whole text", NOW)
    assert said(book.status.conditions) == [
        ("Initialized", "False", "UpdateRunInitializedFailed", "the whole text")
    ]


def test_a_run_makes_progress() -> None:
    book = ledger()
    marks.run_progressing(book, NOW)
    assert said(book.status.conditions) == [PROGRESSING]


def test_a_run_is_stuck_on_clusters() -> None:
    book = ledger()
    marks.run_stuck(book, 0, ["a", "b", "c", "d"], NOW)
    text = (
        "The updateRun is stuck waiting for a, b, c... cluster(s) in stage prod to finish updating,"
        " please check placement status for potential errors"
    )
    assert said(book.status.conditions) == [("Progressing", "False", "UpdateRunStuck", text)]


def test_a_run_succeeds() -> None:
    book = ledger()
    marks.run_succeeded(book, NOW)
    assert said(book.status.conditions) == [
        ("Progressing", "False", "UpdateRunSucceeded", "All stages are completed"),
        ("Succeeded", "True", "UpdateRunSucceeded", "All stages are completed successfully"),
    ]


def test_a_run_fails_with_its_text_and_leaves_its_stages_as_they_are() -> None:
    book = ledger()
    marks.stage_started(book, 0, NOW)
    before = said(book.stage(0).conditions)
    marks.run_failed(book, "the whole text", NOW)
    assert said(book.status.conditions) == [
        (
            "Progressing",
            "False",
            "UpdateRunFailed",
            "The stages are aborted due to a non-recoverable error",
        ),
        ("Succeeded", "False", "UpdateRunFailed", "the whole text"),
    ]
    assert said(book.stage(0).conditions) == before


def test_a_replaced_run_fails_for_a_reason_of_its_own() -> None:
    book = ledger()
    marks.run_failed(book, "run b replaces this one", NOW, reason=RunReason.SUPERSEDED)
    assert [each[2] for each in said(book.status.conditions)] == ["UpdateRunSuperseded"] * 2
    assert not tampering.is_forged(book.status)


def test_a_claim_is_kept_or_taken_back() -> None:
    book = ledger()
    marks.admission_requested(book, NOW)
    marks.run_queued(book, "waits for run a, next in line", NOW, withdrawn=False)
    assert [each[:3] for each in said(book.status.conditions)] == [
        ("Admitted", "Unknown", "UpdateRunAdmissionRequested"),
        ("Progressing", "False", "UpdateRunQueued"),
    ]
    marks.run_queued(book, "waits for run a, next in line", NOW, withdrawn=True)
    assert said(book.status.conditions)[0][:3] == ("Admitted", "False", "UpdateRunQueued")


# -- run and stage together --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "of_stage"),
    [
        ("before", "Not all before-stage tasks are completed, waiting for approval"),
        (
            "after",
            "All clusters in the stage are updated, waiting for after-stage tasks to complete",
        ),
    ],
)
def test_run_and_stage_wait_at_a_gate(side: Any, of_stage: str) -> None:
    book = ledger()
    marks.waiting(book, 0, side, NOW)
    text = f"The updateRun is waiting for {side}-stage tasks in stage prod to complete"
    assert said(book.status.conditions) == [("Progressing", "False", "UpdateRunWaiting", text)]
    assert said(book.stage(0).conditions) == [
        ("Progressing", "False", "StageUpdatingWaiting", of_stage)
    ]
    assert book.stage(0).start_time is None


@pytest.mark.parametrize("index", [0, DELETION])
def test_run_and_stage_stop_and_are_stopped(index: int) -> None:
    book = ledger()
    marks.stopping(book, index, NOW)
    assert said(book.status.conditions) == [
        (
            "Progressing",
            "Unknown",
            "UpdateRunStopping",
            (
                "The update run is the process of stopping, waiting for all the updating/deleting "
                "clusters to finish updating before completing the stop process"
            ),
        )
    ]
    assert said(book.stage(index).conditions) == [
        (
            "Progressing",
            "Unknown",
            "StageUpdatingStopping",
            (
                "Waiting for all the updating clusters to finish updating before completing the "
                "stop process"
            ),
        )
    ]

    marks.stopped(book, index, LATER)
    assert said(book.status.conditions) == [
        ("Progressing", "False", "UpdateRunStopped", "The update run has been stopped")
    ]
    assert said(book.stage(index).conditions) == [
        (
            "Progressing",
            "False",
            "StageUpdatingStopped",
            (
                "All the updating clusters have finished updating, the stage is now stopped, "
                "waiting to be resumed"
            ),
        )
    ]
    assert book.stage(index).start_time is None


# -- stages ------------------------------------------------------------------------------------


def test_a_stage_starts_once() -> None:
    book = ledger()
    marks.stage_started(book, 0, NOW)
    marks.stage_started(book, 0, LATER)
    assert said(book.stage(0).conditions) == [
        ("Progressing", "True", "StageUpdatingStarted", "Clusters in the stage started updating")
    ]
    assert (book.stage(0).start_time, book.stage(0).end_time) == (NOW, None)


def test_a_stage_without_clusters_is_skipped() -> None:
    book = ledger(stage(), stage("empty", "dev"))
    marks.stage_skipped(book, 1, NOW)
    skipped = ("StageUpdatingSkippedNoClusters", "Stage skipped because it has no clusters")
    assert said(book.stage(1).conditions) == [
        ("Progressing", "False", *skipped),
        ("Succeeded", "True", *skipped),
    ]
    assert (book.stage(1).start_time, book.stage(1).end_time) == (NOW, NOW)


def test_a_stage_succeeds() -> None:
    book = ledger()
    marks.stage_started(book, 0, NOW)
    marks.stage_succeeded(book, 0, LATER)
    assert said(book.stage(0).conditions) == [
        (
            "Progressing",
            "False",
            "StageUpdatingSucceeded",
            "All clusters in the stage are updated and after-stage tasks are completed",
        ),
        ("Succeeded", "True", "StageUpdatingSucceeded", "Stage update completed successfully"),
    ]
    assert (book.stage(0).start_time, book.stage(0).end_time) == (NOW, LATER)


def test_a_stage_fails_with_the_text_of_the_run() -> None:
    book = ledger()
    marks.stage_failed(book, 0, "the whole text", LATER)
    assert said(book.stage(0).conditions) == [
        (
            "Progressing",
            "False",
            "StageUpdatingFailed",
            "Stage update aborted due to a non-recoverable error",
        ),
        ("Succeeded", "False", "StageUpdatingFailed", "the whole text"),
    ]
    assert book.stage(0).end_time == LATER


# -- clusters and gates ------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, DELETION])
def test_a_cluster_starts_and_succeeds(index: int) -> None:
    book = ledger(leaving=("c",))
    marks.cluster_started(book, index, 0, NOW)
    marks.cluster_succeeded(book, index, 0, LATER)
    found = book.cluster(index, 0).conditions
    assert said(found) == [
        ("Started", "True", "ClusterUpdatingStarted", "Cluster update started"),
        (
            "Succeeded",
            "True",
            "ClusterUpdatingSucceeded",
            "Cluster update completed successfully",
        ),
    ]
    assert [each.last_transition_time for each in found] == [NOW, LATER]


def test_a_cluster_taken_by_another_run_fails() -> None:
    book = ledger()
    marks.cluster_started(book, 0, 1, NOW)
    marks.cluster_failed(book, 0, 1, "the whole text", LATER)
    assert said(book.cluster(0, 1).conditions)[1] == (
        "Succeeded",
        "False",
        "ClusterUpdatingFailed",
        "the whole text",
    )
    assert book.cluster(0, 0).conditions == []


@pytest.mark.parametrize(("side", "position"), [("before", 0), ("after", 1)])
def test_an_approval_is_requested_and_given(side: Any, position: int) -> None:
    book = ledger(stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL]))
    marks.gate_opened(book, 0, side, position, NOW)
    marks.gate_passed(book, 0, side, position, LATER)
    assert said(book.task(0, side, position).conditions) == [
        (
            "ApprovalRequestCreated",
            "True",
            "StageTaskApprovalRequestCreated",
            "ApprovalRequest object is created",
        ),
        (
            "ApprovalRequestApproved",
            "True",
            "StageTaskApprovalRequestApproved",
            "ApprovalRequest object is approved",
        ),
    ]


def test_a_wait_is_over() -> None:
    book = ledger(stage(after_stage_tasks=[APPROVAL, WAIT]))
    marks.gate_passed(book, 0, "after", 1, NOW)
    assert said(book.task(0, "after", 1).conditions) == [
        ("WaitTimeElapsed", "True", "AfterStageTaskWaitTimeElapsed", "Wait time elapsed")
    ]
    assert book.task(0, "after", 0).conditions == []


# -- a whole run -------------------------------------------------------------------------------


def test_an_undisturbed_run_ends_with_the_conditions_of_the_contract() -> None:
    book = ledger(stage(after_stage_tasks=[WAIT]), stage("empty", "dev"))
    marks.run_initialized(book, NOW)
    marks.run_progressing(book, NOW)
    for position in range(2):
        marks.cluster_started(book, 0, position, NOW)
        marks.stage_started(book, 0, NOW)
        marks.cluster_succeeded(book, 0, position, NOW)
    marks.waiting(book, 0, "after", NOW)
    marks.gate_passed(book, 0, "after", 0, LATER)
    marks.run_progressing(book, LATER)
    marks.stage_succeeded(book, 0, LATER)
    marks.stage_skipped(book, 1, LATER)
    marks.stage_started(book, DELETION, LATER)
    marks.stage_succeeded(book, DELETION, LATER)
    marks.run_succeeded(book, LATER)

    def short(conditions: Iterable[Condition]) -> list[tuple[str, str]]:
        return [(each.type, each.status.value) for each in conditions]

    done = [("Progressing", "False"), ("Succeeded", "True")]
    assert short(book.status.conditions) == [("Initialized", "True"), *done]
    for index in (0, 1, DELETION):
        assert short(book.stage(index).conditions) == done
    for cluster in book.stage(0).clusters:
        assert short(cluster.conditions) == [("Started", "True"), ("Succeeded", "True")]


# -- the worked example ------------------------------------------------------------------------


def worked_ledger() -> Ledger:
    """Return the initialized run of the contract's example."""
    run = RunRef(scope_name=ScopeName.CLUSTER, name="example-run", uid="u")
    known = facts(
        spec=UpdateRunSpec(
            placement_name="example-placement",
            resource_snapshot_index="1",
            staged_rollout_strategy_name="example-strategy",
        ),
        strategy=strategy(
            Stage(
                name="staging",
                label_selector=LabelSelector(match_labels={"environment": "staging"}),
                max_concurrency=1,
                after_stage_tasks=[StageTask(type=StageTaskType.TIMED_WAIT, wait_time="1m")],
            ),
            Stage(
                name="canary",
                label_selector=LabelSelector(match_labels={"environment": "canary"}),
                sorting_label_key="order",
                max_concurrency="50%",
                before_stage_tasks=[APPROVAL],
            ),
        ),
        bindings=[binding(f"member{number}") for number in (1, 2, 3)],
        clusters=[
            ClusterFact(name="member1", labels={"environment": "canary", "order": "2"}),
            ClusterFact(name="member2", labels={"environment": "staging"}),
            ClusterFact(name="member3", labels={"environment": "canary", "order": "1"}),
        ],
    )
    return Ledger(planned(known, run=run), generation=1)


def shortened(value: Any, *, like: Any) -> Any:
    """Return a status in the example's shorthand: conditions as text, `...` for omitted times."""
    if like == "...":
        return "..."
    if isinstance(value, dict) and isinstance(like, str):
        words = [value["type"], value["status"], value["reason"]]
        return " ".join([*words, f'"{value["message"]}"'] if '"' in like else words)
    if isinstance(value, dict):
        return {name: shortened(each, like=like.get(name)) for name, each in value.items()}
    if isinstance(value, list) and isinstance(like, list) and len(value) == len(like):
        return [shortened(each, like=other) for each, other in zip(value, like, strict=True)]
    return value


def test_the_marks_produce_the_worked_example_of_the_contract() -> None:
    book = worked_ledger()
    marks.run_initialized(book, NOW)
    marks.run_progressing(book, NOW)
    marks.cluster_started(book, 0, 0, NOW)
    marks.stage_started(book, 0, NOW)
    marks.cluster_succeeded(book, 0, 0, NOW)
    marks.waiting(book, 0, "after", NOW)
    marks.gate_passed(book, 0, "after", 0, LATER)
    marks.run_progressing(book, LATER)
    marks.stage_succeeded(book, 0, LATER)
    marks.gate_opened(book, 1, "before", 0, LATER)
    marks.waiting(book, 1, "before", LATER)

    example = yaml.safe_load(WORKED.read_text())
    assert shortened(book.status.to_wire(), like=example) == example
