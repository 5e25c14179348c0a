"""Gates: the tasks that declare them, and which ones a run waits at (update-runs 4, 7.5)."""

from datetime import datetime, timedelta

import pytest

from api.strategies import StageTask, StageTaskType
from planning.runs import gates, marks
from planning.runs.gates import GateSide, PendingApproval
from tests.planning.run_samples import APPROVAL, NOW, WAIT, ledger, stage


def after(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


def asked(side: GateSide, seconds: int) -> PendingApproval:
    return PendingApproval(stage="prod", side=side, request=f"v2-{side}-prod", since=after(seconds))


def test_an_approval_is_pending_from_its_request_until_it_is_given() -> None:
    gated = stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL])
    book = ledger(gated)
    marks.run_initialized(book, NOW)
    assert gates.closed(book.status).approvals == ()
    marks.gate_opened(book, 0, "before", 0, after(1))
    assert gates.closed(book.status).approvals == (asked(GateSide.BEFORE, 1),)
    marks.gate_passed(book, 0, "before", 0, after(2))
    assert gates.closed(book.status).approvals == ()
    marks.gate_opened(book, 0, "after", 1, after(3))
    assert gates.closed(book.status).approvals == (asked(GateSide.AFTER, 3),)


def test_a_run_that_has_ended_waits_at_no_gate() -> None:
    book = ledger(stage(before_stage_tasks=[APPROVAL]))
    marks.run_initialized(book, NOW)
    marks.gate_opened(book, 0, "before", 0, NOW)
    marks.run_failed(book, "why", after(1))
    assert gates.closed(book.status).approvals == ()


# -- the tasks that declare gates -------------------------------------------------------------


def wait(time: str | None) -> StageTask:
    return StageTask(type=StageTaskType.TIMED_WAIT, wait_time=time)


HURRIED_APPROVAL = StageTask(type=StageTaskType.APPROVAL, wait_time="1m")


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ([], None),
        ([APPROVAL], None),
        ([APPROVAL, APPROVAL], "beforeStageTasks can have at most one task"),
        (
            [WAIT],
            "task 0 of type TimedWait is not allowed in beforeStageTasks, allowed type: Approval",
        ),
        ([HURRIED_APPROVAL], "task 0 of type Approval cannot have wait duration set"),
    ],
)
def test_before_a_stage_there_may_be_one_approval(
    declared: list[StageTask], problem: str | None
) -> None:
    assert gates.before_problem(declared) == problem


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ([], None),
        ([APPROVAL], None),
        ([WAIT, APPROVAL], None),
        ([APPROVAL, WAIT], None),
        ([WAIT, WAIT], "afterStageTasks cannot have two tasks of the same type: TimedWait"),
        ([APPROVAL, APPROVAL], "afterStageTasks cannot have two tasks of the same type: Approval"),
        ([APPROVAL, wait(None)], "task 1 of type TimedWait has wait duration set to nil"),
        ([wait("0s")], "task 0 of type TimedWait has wait duration <= 0"),
        ([wait("0h0m")], "task 0 of type TimedWait has wait duration <= 0"),
        ([wait("0.0001s")], None),
        (
            [wait("9999999999h")],
            (
                "task 0 of type TimedWait has an invalid wait duration: "
                "'9999999999h' is too long for a duration; the longest is about 290 years"
            ),
        ),
    ],
)
def test_after_a_stage_there_may_be_a_wait_and_an_approval(
    declared: list[StageTask], problem: str | None
) -> None:
    assert gates.after_problem(declared) == problem


def test_an_approval_is_named_after_run_side_and_stage() -> None:
    assert gates.approval_name("example-run", "before", "canary") == "example-run-before-canary"
    assert gates.approval_name("example-run", "after", "canary") == "example-run-after-canary"


def test_gates_that_have_not_started_have_no_conditions() -> None:
    found = gates.entries([WAIT, APPROVAL], run="v2", side="after", stage="prod")
    assert [each.to_wire() for each in found] == [
        {"type": "TimedWait"},
        {"type": "Approval", "approvalRequestName": "v2-after-prod"},
    ]


def test_the_copy_of_a_stage_has_waits_in_gos_format_and_none_on_approvals() -> None:
    declared = stage(
        before_stage_tasks=[HURRIED_APPROVAL], after_stage_tasks=[wait("90s"), HURRIED_APPROVAL]
    )
    copied = gates.normalized(declared).to_wire()
    assert copied["beforeStageTasks"] == [{"type": "Approval"}]
    assert copied["afterStageTasks"] == [
        {"type": "TimedWait", "waitTime": "1m30s"},
        {"type": "Approval"},
    ]
    assert declared.after_stage_tasks[0].wait_time == "90s"


def test_the_copy_of_a_stage_without_gates_has_none() -> None:
    assert gates.normalized(stage()) == stage()
    assert "afterStageTasks" not in gates.normalized(stage()).to_wire()


@pytest.mark.parametrize("time", ["1m", "1.5h", "0.0001s", "0s", "9999999999h"])
def test_an_invalid_wait_is_still_invalid_in_its_copy(time: str) -> None:
    declared = stage(after_stage_tasks=[wait(time)])
    copied = gates.normalized(declared)
    assert gates.after_problem(copied.after_stage_tasks) == gates.after_problem(
        declared.after_stage_tasks
    )


@pytest.mark.parametrize("typed", ["0.5s", "0.001m"])
def test_a_wait_below_a_second_is_copied_unchanged_since_the_api_rejects_milliseconds(
    typed: str,
) -> None:
    declared = stage(after_stage_tasks=[wait(typed)])
    assert gates.normalized(declared).after_stage_tasks[0].wait_time == typed
