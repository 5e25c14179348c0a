"""Events of a run, from its status before and now."""

from collections.abc import Callable
from typing import Any

import pytest

from api.kinds import SCOPES
from api.runs import RunState, UpdateRunStatus
from planning.identity import RunRef
from planning.runs import marks, run_events
from planning.runs.approval_events import Given
from planning.runs.ledger import DELETION, Ledger
from planning.runs.phases import Phase
from planning.runs.run_events import EventState
from planning.runs.steering import Steered
from tests.planning.run_samples import (
    APPROVAL,
    CLUSTER_RUN,
    LATER,
    NAMESPACED_RUN,
    NOW,
    WAIT,
    both_scopes,
    ledger,
    stage,
)

INITIALIZE, RUN, STOP = RunState.INITIALIZE, RunState.RUN, RunState.STOP
NOTHING = EventState(Phase.PENDING, None, None, None, (), INITIALIZE)


def look(book: Ledger, desired: RunState = RUN) -> EventState:
    return run_events.situation(book.status, desired=desired)


def told(
    before: EventState, book: Ledger, *, desired: RunState = RUN, run: RunRef = CLUSTER_RUN
) -> list[tuple[str, str]]:
    """Return reason and message of the events between an earlier situation and now."""
    found = run_events.since(before, look(book, desired), status=book.status, run=run, now=LATER)
    assert {each.at for each in found} <= {LATER}
    return [(each.reason, each.message) for each in found]


def reasons(before: EventState, book: Ledger, **state: Any) -> list[str]:
    return [reason for reason, _ in told(before, book, **state)]


def begun(*stages: Any, **fields: Any) -> Ledger:
    """Return the ledger of a run that is initialized and making progress."""
    book = ledger(*stages, **fields)
    marks.run_initialized(book, NOW)
    marks.run_progressing(book, NOW)
    return book


# -- planning ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("desired", "rest"),
    [(RUN, ""), (STOP, ""), (INITIALIZE, "; set spec.state to Run to start")],
)
def test_the_event_of_a_plan_names_its_size(desired: RunState, rest: str) -> None:
    book = ledger(stage(), stage("none", "dev"))
    marks.run_initialized(book, NOW)
    text = f"Planned 2 clusters in 2 stages, for resource snapshot 1{rest}"
    assert told(NOTHING, book, desired=desired) == [("Initialized", text)]


def test_a_run_that_cannot_be_planned_has_one_event_that_says_why() -> None:
    book = Ledger(UpdateRunStatus(), generation=1)
    marks.run_not_initialized(book, "no placement", NOW)
    [event] = run_events.since(NOTHING, look(book), status=book.status, run=CLUSTER_RUN, now=NOW)
    assert (event.type, event.reason, event.message) == ("Warning", "Failed", "no placement")


def test_an_unchanged_status_gives_no_event() -> None:
    book = begun()
    marks.stage_started(book, 0, NOW)
    marks.run_stuck(book, 0, ["a"], NOW)
    assert told(look(book), book) == []


def test_simultaneous_changes_give_events_in_order() -> None:
    book = begun()
    marks.stage_started(book, 0, NOW)
    marks.stage_succeeded(book, 0, NOW)
    marks.run_succeeded(book, NOW)
    assert reasons(NOTHING, book) == ["Initialized", "StageStarted", "Succeeded"]


# -- waiting for other runs --------------------------------------------------------------------


def test_a_run_that_waits_says_so_once_and_again_when_it_begins() -> None:
    book = ledger(stage())
    marks.run_initialized(book, NOW)
    marks.admission_requested(book, NOW)
    before = look(book)
    marks.run_queued(book, "waits for run a, 2nd in line", NOW, withdrawn=True)
    assert told(before, book) == [("Queued", "waits for run a, 2nd in line")]
    before = look(book)
    marks.run_queued(book, "waits for run a, next in line", NOW, withdrawn=True)
    marks.admission_requested(book, NOW)
    assert told(before, book) == []
    before = look(book)
    marks.run_admitted(book, NOW)
    assert told(before, book) == [("Admitted", "The update run begins, as its turn has come")]


def test_a_run_that_need_not_wait_says_nothing_about_it() -> None:
    book = ledger(stage())
    marks.run_initialized(book, NOW)
    marks.admission_requested(book, NOW)
    before = look(book)
    marks.run_admitted(book, NOW)
    assert told(before, book) == []


def test_a_run_that_is_replaced_warns() -> None:
    book = begun()
    before = look(book)
    marks.run_superseded(book, "run b replaces it", NOW)
    assert told(before, book) == [("Superseded", "run b replaces it")]


# -- stages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_concurrency", "at_once"), [(1, 1), (2, 2), (50, 2), ("50%", 1), ("100%", 2)]
)
def test_a_started_stage_says_how_many_clusters_it_updates(
    max_concurrency: int | str, at_once: int
) -> None:
    book = begun(stage(max_concurrency=max_concurrency))
    before = look(book)
    marks.stage_started(book, 0, NOW)
    text = f"Stage prod started: 2 clusters, {at_once} at a time"
    assert told(before, book) == [("StageStarted", text)]


def test_a_stage_without_clusters_gives_no_event() -> None:
    book = begun(stage(), stage("none", "dev"))
    before = look(book)
    marks.stage_skipped(book, 1, NOW)
    assert told(before, book) == []


def test_the_deletion_stage_gives_an_event_only_if_it_removes_something() -> None:
    book = begun(leaving=("c",))
    before = look(book)
    marks.stage_started(book, DELETION, NOW)
    text = "Stage kubernetes-fleet.io/deleteStage started: 1 cluster to be removed"
    assert told(before, book) == [("StageStarted", text)]

    book = begun()
    before = look(book)
    marks.stage_started(book, DELETION, NOW)
    assert told(before, book) == []


# -- waiting -----------------------------------------------------------------------------------


@both_scopes
def test_a_run_at_a_gate_says_what_has_to_be_done(run: RunRef, ns: str) -> None:
    book = begun(stage(before_stage_tasks=[APPROVAL]))
    before = look(book)
    marks.waiting(book, 0, "before", NOW)
    flag = f" -n {ns}" if ns else ""
    text = (
        f"Waiting before stage prod for {SCOPES[run.scope_name].approval} v2-before-prod "
        f"to be approved (fleetgate approve v2 prod --before{flag})"
    )
    assert told(before, book, run=run) == [("Waiting", text)]


def test_parallel_gates_share_one_event() -> None:
    book = begun(stage(after_stage_tasks=[WAIT, APPROVAL]))
    marks.stage_started(book, 0, NOW)
    before = look(book)
    marks.waiting(book, 0, "after", NOW)
    text = (
        "Waiting after stage prod for 1m30s to pass and for ClusterApprovalRequest v2-after-prod "
        "to be approved (fleetgate approve v2 prod --after)"
    )
    assert told(before, book) == [("Waiting", text)]


def test_a_passed_gate_is_not_waited_for() -> None:
    book = begun(stage(after_stage_tasks=[WAIT, APPROVAL]))
    marks.stage_started(book, 0, NOW)
    before = look(book)
    marks.waiting(book, 0, "after", NOW)
    marks.gate_passed(book, 0, "after", 1, NOW)
    assert told(before, book) == [("Waiting", "Waiting after stage prod for 1m30s to pass")]


def test_a_stage_without_gates_is_not_waited_for() -> None:
    book = begun()
    marks.stage_started(book, 0, NOW)
    before = look(book)
    marks.waiting(book, 0, "after", NOW)
    assert told(before, book) == []


def test_the_gate_on_the_other_side_gives_an_event_though_the_run_still_waits() -> None:
    gated = stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT])
    book = begun(gated)
    marks.waiting(book, 0, "before", NOW)
    before = look(book)
    marks.stage_started(book, 0, NOW)
    marks.waiting(book, 0, "after", NOW)
    assert reasons(before, book) == ["StageStarted", "Waiting"]


# -- stuck, stopped, resumed -------------------------------------------------------------------


def test_stuck_clusters_give_one_event_whichever_they_are() -> None:
    book = begun()
    before = look(book)
    marks.run_stuck(book, 0, ["a"], NOW)
    [(reason, text)] = told(before, book)
    assert reason == "Stuck"
    assert "stuck waiting for a cluster(s) in stage prod" in text

    before = look(book)
    marks.run_stuck(book, 0, ["a", "b"], NOW)
    assert told(before, book) == []


def test_a_run_that_recovers_and_is_stuck_again_gives_another_event() -> None:
    book = begun()
    marks.run_stuck(book, 0, ["a"], NOW)
    before = look(book)
    marks.run_progressing(book, NOW)
    assert told(before, book) == []
    before = look(book)
    marks.run_stuck(book, 0, ["a"], NOW)
    assert reasons(before, book) == ["Stuck"]


def test_a_stop_gives_an_event_when_it_is_complete() -> None:
    book = begun()
    before = look(book)
    marks.stopping(book, 0, NOW)
    assert told(before, book, desired=STOP) == []
    before = look(book, STOP)
    marks.stopped(book, 0, NOW)
    assert told(before, book, desired=STOP) == [
        ("Stopped", "The update run has been stopped; set spec.state to Run to resume")
    ]


@pytest.mark.parametrize("reached", [marks.stopping, marks.stopped])
def test_a_resume_gives_an_event_whether_the_stop_was_complete_or_not(
    reached: Callable[..., None],
) -> None:
    book = begun()
    reached(book, 0, NOW)
    before = look(book, STOP)
    marks.run_progressing(book, NOW)
    assert told(before, book) == [("Resumed", "The update run continues where it was stopped")]


def test_who_stopped_a_run_and_who_resumed_it_are_named() -> None:
    book = begun()
    marks.stopping(book, 0, NOW)
    before = look(book, STOP)
    marks.stopped(book, 0, NOW)
    stopped = run_events.situation(
        book.status, desired=STOP, asked=Steered(by="jane", comment="lunch")
    )
    resumed = run_events.situation(book.status, desired=RUN, asked=Steered(by="joe"))
    texts = [
        event.message
        for early, late in ((before, stopped), (stopped, resumed))
        for event in run_events.since(early, late, status=book.status, run=CLUSTER_RUN, now=NOW)
    ]
    assert texts == [
        "The update run has been stopped by jane (lunch); set spec.state to Run to resume",
        "The update run was resumed by joe; it continues where it was stopped",
    ]


def test_a_cluster_that_is_stuck_while_stopping_is_not_a_resume() -> None:
    book = begun()
    marks.stopping(book, 0, NOW)
    before = look(book, STOP)
    marks.run_stuck(book, 0, ["a"], NOW)
    assert reasons(before, book, desired=STOP) == ["Stuck"]


def test_a_start_is_not_a_resume() -> None:
    book = begun()
    assert told(look(book, INITIALIZE), book, desired=RUN) == []


def test_a_run_resumed_at_a_gate_says_again_what_it_waits_for() -> None:
    book = begun(stage(before_stage_tasks=[APPROVAL]))
    marks.stopped(book, 0, NOW)
    before = look(book, STOP)
    marks.waiting(book, 0, "before", NOW)
    assert reasons(before, book) == ["Resumed", "Waiting"]


# -- approvals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "rest"),
    [
        (Given(message="looks good (by alice)"), ": looks good (by alice)"),
        (Given(tool="kubectl-patch", message="lgtm"), " with kubectl-patch: lgtm"),
        (Given(), ""),
    ],
)
def test_the_event_of_an_approval_names_who_gave_it(given: Given, rest: str) -> None:
    event = run_events.approved(stage="prod", side="before", given=given, now=NOW)
    assert event.reason == "Approved"
    assert event.message == f"The approval before stage prod was given{rest}"


# -- ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "told_as"),
    [
        (marks.run_succeeded, ("Normal", "Succeeded", "All stages are completed successfully")),
        (
            lambda book, now: marks.run_failed(book, "the placement is gone", now),
            ("Warning", "Failed", "the placement is gone"),
        ),
    ],
)
def test_the_end_of_a_run_gives_one_event(
    end: Callable[..., None], told_as: tuple[str, str, str]
) -> None:
    book = begun()
    before = look(book)
    end(book, NOW)
    [event] = run_events.since(before, look(book), status=book.status, run=CLUSTER_RUN, now=NOW)
    assert (event.type, event.reason, event.message) == told_as
    assert told(look(book), book, desired=STOP, run=NAMESPACED_RUN) == []


def test_an_adoption_says_how_far_the_run_was() -> None:
    book = begun(stage("nobody", "none"), stage(), leaving=("c",))
    marks.stage_skipped(book, 0, NOW)
    marks.cluster_succeeded(book, 1, 0, NOW)
    event = run_events.adopted(book.status, now=LATER)
    assert (event.type, event.reason, event.at) == ("Warning", "Adopted", LATER)
    assert event.message == (
        "Temporal no longer knew this run; resuming from what the hub recorded: "
        "0 of 2 stages, 1 of 3 clusters"
    )
