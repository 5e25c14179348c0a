"""Metrics from a run's status (contract: update-runs 13)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from api.runs import RunState, UpdateRun
from planning import failures
from planning.errors import ABORTED, unexpected
from planning.runs import marks, run_metrics
from planning.runs.ledger import Ledger
from planning.runs.run_metrics import new_approvals, new_stages, read
from tests.planning.run_samples import APPROVAL, NOW, WAIT, ledger, stage

Mark = Callable[[Ledger], None]


def after(seconds: float) -> Any:
    return NOW + timedelta(seconds=seconds)


def seen(book: Ledger, *, generation: int = 1, state: RunState = RunState.RUN) -> UpdateRun:
    """Return the run as it is on the hub; a copy, because ledgers change."""
    return UpdateRun.from_wire(
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterStagedUpdateRun",
            "metadata": {"name": "v2", "uid": "u-1", "generation": generation},
            "spec": {
                "placementName": "web",
                "stagedRolloutStrategyName": "slow",
                "state": state.value,
            },
            "status": book.status.to_wire(),
        }
    )


# -- the status gauge --------------------------------------------------------------------------

USER_TEXT = str(failures.POLICY_LIMITS_NOTHING.error(policy="p"))
OTHER_TEXT = f"{ABORTED}: {unexpected('nil stagesStatus')}"


@pytest.mark.parametrize(
    ("mark", "labels"),
    [
        (
            lambda book: marks.run_initialized(book, NOW),
            ("Initialized", "True", "UpdateRunInitializedSuccessfully", "none"),
        ),
        (
            lambda book: marks.run_not_initialized(book, USER_TEXT, NOW),
            ("Initialized", "False", "UpdateRunInitializedFailed", "user_error"),
        ),
        (
            lambda book: marks.run_not_initialized(book, OTHER_TEXT, NOW),
            ("Initialized", "False", "UpdateRunInitializedFailed", "internal_error"),
        ),
        (
            lambda book: marks.run_progressing(book, NOW),
            ("Progressing", "True", "UpdateRunProgressing", "none"),
        ),
        (
            lambda book: marks.waiting(book, 0, "before", NOW),
            ("Progressing", "False", "UpdateRunWaiting", "none"),
        ),
        (
            lambda book: marks.run_stuck(book, 0, ["a"], NOW),
            ("Progressing", "False", "UpdateRunStuck", "internal_error"),
        ),
        (
            lambda book: marks.stopping(book, 0, NOW),
            ("Progressing", "Unknown", "UpdateRunStopping", "none"),
        ),
        (
            lambda book: marks.stopped(book, 0, NOW),
            ("Progressing", "False", "UpdateRunStopped", "none"),
        ),
        (
            lambda book: marks.run_succeeded(book, NOW),
            ("Succeeded", "True", "UpdateRunSucceeded", "none"),
        ),
        (
            lambda book: marks.run_failed(book, USER_TEXT, NOW),
            ("Succeeded", "False", "UpdateRunFailed", "user_error"),
        ),
        (
            lambda book: marks.run_failed(book, OTHER_TEXT, NOW),
            ("Succeeded", "False", "UpdateRunFailed", "internal_error"),
        ),
    ],
    ids=lambda case: case[2] if isinstance(case, tuple) else "",
)
def test_the_most_advanced_condition_gives_the_labels(
    mark: Mark, labels: tuple[str, str, str, str]
) -> None:
    book = ledger()
    if labels[0] != "Initialized":
        marks.run_initialized(book, NOW)
    mark(book)
    condition, status, reason, failure = labels
    assert run_metrics.status_labels(seen(book)) == {
        "state": "Run",
        "condition": condition,
        "status": status,
        "reason": reason,
        "failureType": failure,
    }


def test_a_run_without_conditions_has_no_labels() -> None:
    assert run_metrics.status_labels(seen(ledger())) is None


def test_conditions_of_an_older_spec_give_no_labels() -> None:
    book = ledger()
    marks.run_initialized(book, NOW)
    assert run_metrics.status_labels(seen(book, generation=2)) is None


def test_a_less_advanced_condition_counts_if_only_it_is_up_to_date() -> None:
    book = ledger()
    marks.run_progressing(book, NOW)
    book.generation = 2
    marks.run_initialized(book, NOW)
    labels = run_metrics.status_labels(seen(book, generation=2, state=RunState.STOP))
    assert labels is not None
    assert (labels["condition"], labels["state"]) == ("Initialized", "Stop")


# -- approvals ---------------------------------------------------------------------------------


def test_the_latency_of_an_approval_is_from_its_request_to_its_acceptance() -> None:
    book = ledger(stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL]))
    marks.gate_opened(book, 0, "before", 0, NOW)
    marks.gate_opened(book, 0, "after", 1, NOW)
    before = read(seen(book))
    assert before.approvals == {}

    marks.gate_passed(book, 0, "before", 0, after(90))
    first = read(seen(book))
    assert new_approvals(before, first) == [("beforeStage", timedelta(seconds=90))]

    marks.gate_passed(book, 0, "after", 1, after(7200))
    assert new_approvals(first, read(seen(book))) == [("afterStage", timedelta(hours=2))]


def test_an_approval_is_counted_once() -> None:
    book = ledger(stage(before_stage_tasks=[APPROVAL]))
    marks.gate_opened(book, 0, "before", 0, NOW)
    marks.gate_passed(book, 0, "before", 0, after(1))
    before = read(seen(book))
    marks.stage_started(book, 0, after(2))
    assert new_approvals(before, read(seen(book))) == []


def test_a_finished_wait_is_not_an_approval() -> None:
    book = ledger(stage(after_stage_tasks=[WAIT]))
    before = read(seen(book))
    marks.gate_passed(book, 0, "after", 0, NOW)
    assert new_approvals(before, read(seen(book))) == []


def test_a_clock_that_was_set_back_gives_no_negative_duration() -> None:
    book = ledger(stage(before_stage_tasks=[APPROVAL]))
    before = read(seen(book))
    marks.gate_opened(book, 0, "before", 0, NOW)
    marks.gate_passed(book, 0, "before", 0, after(-60))
    assert new_approvals(before, read(seen(book))) == [("beforeStage", timedelta(0))]


# -- stages ------------------------------------------------------------------------------------


def update(book: Ledger, position: int, *, start: float, end: float) -> None:
    """Update one cluster of the first stage."""
    marks.cluster_started(book, 0, position, after(start))
    marks.stage_started(book, 0, after(start))
    marks.cluster_succeeded(book, 0, position, after(end))


def test_the_duration_of_a_stage_is_from_its_start_to_its_last_cluster() -> None:
    book = ledger(stage(after_stage_tasks=[WAIT]))
    update(book, 0, start=0, end=10)
    before = read(seen(book))
    assert before.stages == {}
    update(book, 1, start=10, end=45)
    marks.waiting(book, 0, "after", after(45))
    updated = read(seen(book))
    assert new_stages(before, updated) == [timedelta(seconds=45)]

    marks.gate_passed(book, 0, "after", 0, after(135))
    marks.stage_succeeded(book, 0, after(135))
    assert new_stages(updated, read(seen(book))) == []


def test_a_stage_has_a_duration_even_if_only_its_end_was_seen() -> None:
    book = ledger()
    before = read(seen(book))
    update(book, 0, start=0, end=10)
    update(book, 1, start=0, end=20)
    marks.stage_succeeded(book, 0, after(20))
    marks.run_succeeded(book, after(20))
    assert new_stages(before, read(seen(book))) == [timedelta(seconds=20)]


@pytest.mark.parametrize("mark", [marks.stopping, marks.stopped])
def test_a_stage_whose_last_cluster_ends_during_a_stop_has_no_duration(
    mark: Callable[..., None],
) -> None:
    book = ledger()
    update(book, 0, start=0, end=10)
    marks.cluster_started(book, 0, 1, after(10))
    marks.stopping(book, 0, after(11))
    before = read(seen(book))
    marks.cluster_succeeded(book, 0, 1, after(20))
    mark(book, 0, after(20))
    stopped = read(seen(book))
    assert new_stages(before, stopped) == []

    marks.run_progressing(book, after(90))
    marks.stage_succeeded(book, 0, after(90))
    assert new_stages(stopped, read(seen(book))) == []


def test_a_stage_that_updates_again_after_a_stop_has_its_duration() -> None:
    book = ledger()
    update(book, 0, start=0, end=10)
    marks.stopped(book, 0, after(10))
    marks.cluster_started(book, 0, 1, after(60))
    marks.stage_started(book, 0, after(60))
    before = read(seen(book))
    marks.cluster_succeeded(book, 0, 1, after(75))
    assert new_stages(before, read(seen(book))) == [timedelta(seconds=75)]


def test_a_stage_with_a_failed_cluster_has_no_duration() -> None:
    book = ledger()
    update(book, 0, start=0, end=10)
    before = read(seen(book))
    marks.cluster_failed(book, 0, 1, "taken", after(20))
    assert new_stages(before, read(seen(book))) == []


def test_a_cluster_handed_out_again_after_its_stage_gives_no_duration() -> None:
    book = ledger()
    marks.stage_started(book, 0, NOW)
    for position in (0, 1):
        marks.cluster_started(book, 0, position, NOW)
    marks.cluster_succeeded(book, 0, 0, NOW)
    marks.cluster_timed_out(book, 0, 1, "too long", NOW)
    marks.cluster_retried(book, 0, 1, "by jane", NOW)
    before = read(seen(book))
    marks.cluster_succeeded(book, 0, 1, NOW + timedelta(hours=9))
    assert new_stages(before, read(seen(book))) == []


def test_a_skipped_stage_has_no_duration() -> None:
    book = ledger(stage(), stage("none", "dev"))
    before = read(seen(book))
    marks.stage_skipped(book, 1, NOW)
    assert new_stages(before, read(seen(book))) == []
