"""Runs that are ended from outside: deleted on the hub, cancelled in Temporal, removed by force."""

from collections.abc import Callable

import pytest

from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage


@pytest.fixture
def under_way(begin: Begin) -> SimulatedRun:
    """A run with one of two clusters in flight."""
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.wait(5)
    return run


def how(run: SimulatedRun) -> str:
    """Run the workflow to its end, and return how it ended."""
    run.temporal.to_end()
    assert run.temporal.closed is not None
    return run.temporal.closed.how


def test_the_workflow_of_a_deleted_run_is_cancelled_without_further_writes(
    under_way: SimulatedRun,
) -> None:
    writes, told = len(under_way.activities.writes), list(under_way.told)
    under_way.delete()
    assert how(under_way) == "cancel"
    under_way.wait(60)
    assert len(under_way.activities.writes) == writes
    assert under_way.told == told
    assert under_way.activities.handed_out == ["a"]


@pytest.mark.parametrize(("reason", "shown"), [("", ""), ("wrong version", ": wrong version")])
def test_a_run_cancelled_in_temporal_fails_with_the_reason(
    under_way: SimulatedRun, reason: str, shown: str
) -> None:
    under_way.temporal.cancel(reason)
    assert how(under_way) == "cancel"
    assert under_way.phase is Phase.FAILED
    assert under_way.succeeded.message == (
        "cannot continue the updateRun: failed to process the request due to a client error: "
        f"the workflow was cancelled in Temporal{shown}"
    )
    assert under_way.stage().conditions[-1].reason == "StageUpdatingFailed"
    assert under_way.told[-1] == "Failed"
    assert under_way.activities.handed_out == ["a"]


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_run_can_be_cancelled_at_a_gate(begin: Begin, side: str) -> None:
    run = begin(stage("one", "a", **{f"{side}_stage_tasks": [APPROVAL]}), takes=10)
    run.until_asked(f"v2-{side}-one")
    run.temporal.cancel("no")
    assert how(run) == "cancel"
    assert run.phase is Phase.FAILED


def test_a_run_cancelled_before_it_is_planned_leaves_no_status(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.activities.takes["survey"] = 10
    run.wait(1)
    run.temporal.cancel()
    assert how(run) == "cancel"
    assert run.hub.body == {}


def test_the_workflow_ends_when_a_status_write_finds_the_run_gone(
    under_way: SimulatedRun,
) -> None:
    under_way.hub.exists = False
    under_way.report("a")
    assert under_way.outcome().reason == "Gone"


def test_the_workflow_ends_when_a_check_finds_the_run_gone(
    under_way: SimulatedRun,
) -> None:
    under_way.hub.exists = False
    under_way.changed()
    assert under_way.outcome().reason == "Gone"
    assert under_way.activities.handed_out == ["a"]


def test_the_workflow_ends_when_the_run_is_gone_before_it_is_planned(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.hub.exists = False
    assert run.outcome().reason == "Gone"
    assert run.activities.attempts["write_status"] == 0


@pytest.fixture
def last_words(under_way: SimulatedRun) -> SimulatedRun:
    """A run that has succeeded and is still writing its last events."""
    under_way.activities.takes["record_events"] = 4
    under_way.report("a")
    under_way.until_handed_out("b")
    under_way.report("b")
    under_way.until_phase(Phase.SUCCEEDED)
    return under_way


@pytest.mark.parametrize(
    "stop",
    [SimulatedRun.stop, lambda run: run.signal("pause"), lambda run: run.temporal.cancel("late")],
    ids=["on the hub", "by signal", "cancelled"],
)
def test_messages_after_the_end_is_recorded_change_nothing(
    last_words: SimulatedRun, stop: Callable[[SimulatedRun], object]
) -> None:
    before = last_words.status.conditions
    stop(last_words)
    last_words.temporal.to_end()
    assert last_words.status.conditions == before
    assert last_words.told[-1] == "Succeeded"


def test_a_run_that_is_over_refuses_messages_while_it_writes_its_last_events(
    last_words: SimulatedRun,
) -> None:
    sent = last_words.update("pause")
    assert sent.accepted is False
    assert sent.failure == "run v2 has ended and cannot be changed; create a new run"
