"""The tasks that a stage may have, and the names of their approvals (update-runs 4 and 7.5)."""

import pytest

from api.strategies import StageTask, StageTaskType
from planning.runs import tasks
from tests.planning.run_samples import APPROVAL, WAIT, stage


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
    assert tasks.before_problem(declared) == problem


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
    assert tasks.after_problem(declared) == problem


def test_an_approval_is_named_after_run_side_and_stage() -> None:
    assert tasks.approval_name("example-run", "before", "canary") == "example-run-before-canary"
    assert tasks.approval_name("example-run", "after", "canary") == "example-run-after-canary"


def test_gates_that_have_not_started_have_no_conditions() -> None:
    found = tasks.entries([WAIT, APPROVAL], run="v2", side="after", stage="prod")
    assert [each.to_wire() for each in found] == [
        {"type": "TimedWait"},
        {"type": "Approval", "approvalRequestName": "v2-after-prod"},
    ]


def test_the_copy_of_a_stage_has_waits_in_gos_format_and_none_on_approvals() -> None:
    declared = stage(
        before_stage_tasks=[HURRIED_APPROVAL], after_stage_tasks=[wait("90s"), HURRIED_APPROVAL]
    )
    copied = tasks.normalized(declared).to_wire()
    assert copied["beforeStageTasks"] == [{"type": "Approval"}]
    assert copied["afterStageTasks"] == [
        {"type": "TimedWait", "waitTime": "1m30s"},
        {"type": "Approval"},
    ]
    assert declared.after_stage_tasks[0].wait_time == "90s"


def test_the_copy_of_a_stage_without_gates_has_none() -> None:
    assert tasks.normalized(stage()) == stage()
    assert "afterStageTasks" not in tasks.normalized(stage()).to_wire()


@pytest.mark.parametrize("time", ["1m", "1.5h", "0.0001s", "0s", "9999999999h"])
def test_an_invalid_wait_is_still_invalid_in_its_copy(time: str) -> None:
    declared = stage(after_stage_tasks=[wait(time)])
    copied = tasks.normalized(declared)
    assert tasks.after_problem(copied.after_stage_tasks) == tasks.after_problem(
        declared.after_stage_tasks
    )


@pytest.mark.parametrize("typed", ["0.5s", "0.001m"])
def test_a_wait_below_a_second_is_copied_unchanged_since_the_api_rejects_milliseconds(
    typed: str,
) -> None:
    declared = stage(after_stage_tasks=[wait(typed)])
    assert tasks.normalized(declared).after_stage_tasks[0].wait_time == typed
