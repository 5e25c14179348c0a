"""Gates before and after a stage: approvals, timed waits, both."""

from datetime import timedelta

import pytest

from api.reasons import ConditionType
from planning import conditions
from planning.runs.gates import GateSide, PendingApproval
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL, WAIT
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows.messages import (
    Answer,
    Approve,
    Forecast,
    TemporalApprovals,
)

BEFORE = "v2-before-one"
AFTER = "v2-after-one"
OTHER_GENERATIONS = pytest.mark.parametrize("generation", [0, 2, 7])


@pytest.fixture
def at_gate(begin: Begin) -> SimulatedRun:
    """A run that waits for approval before its only stage."""
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]), takes=10)
    run.until_asked(BEFORE)
    return run


def accepted(run: SimulatedRun, request: str) -> bool:
    found = run.hub.approvals[request].status.conditions
    return conditions.has(found, ConditionType.APPROVAL_ACCEPTED)


# -- approvals given on the hub ------------------------------------------------------------


def test_a_run_reports_that_it_waits_once_its_approval_request_exists(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]), takes=10)
    run.activities.takes["open_approval"] = 3
    run.until(lambda: run.activities.attempts["open_approval"] == 1, "it requests approval")
    run.wait(2)
    assert run.phase is not Phase.WAITING
    written = run.activities.attempts["write_status"]

    run.until_phase(Phase.WAITING)
    assert BEFORE in run.hub.approvals
    assert run.activities.attempts["write_status"] == written + 1
    (created,) = run.stage().before_stage_task_status[0].conditions
    assert created.type == ConditionType.APPROVAL_REQUEST_CREATED


def test_a_stage_starts_when_it_is_approved(at_gate: SimulatedRun) -> None:
    assert (at_gate.phase, at_gate.progressing.message) == (
        Phase.WAITING,
        "The updateRun is waiting for before-stage tasks in stage one to complete",
    )
    assert at_gate.stage().start_time is None
    assert at_gate.activities.handed_out == []

    at_gate.approve(BEFORE)
    at_gate.until_handed_out("a")
    assert accepted(at_gate, BEFORE)
    assert at_gate.outcome().reason == "UpdateRunSucceeded"
    assert [each.type for each in at_gate.stage().before_stage_task_status[0].conditions] == [
        "ApprovalRequestCreated",
        "ApprovalRequestApproved",
    ]


@OTHER_GENERATIONS
def test_an_approval_for_another_generation_does_not_count(
    at_gate: SimulatedRun, generation: int
) -> None:
    at_gate.approve(BEFORE, generation=generation)
    at_gate.wait(60)
    assert at_gate.phase is Phase.WAITING
    assert at_gate.activities.handed_out == []

    at_gate.approve(BEFORE)
    at_gate.until_handed_out("a")


@OTHER_GENERATIONS
def test_a_message_about_an_approval_for_another_generation_passes_no_gate(
    at_gate: SimulatedRun, generation: int
) -> None:
    at_gate.approve(BEFORE, generation=generation)
    at_gate.signal("approve", Approve(stage="one", side=GateSide.BEFORE, on_object=True))
    at_gate.wait(60)
    assert at_gate.phase is Phase.WAITING
    assert at_gate.activities.handed_out == []
    assert not accepted(at_gate, BEFORE)

    at_gate.approve(BEFORE)
    at_gate.until_handed_out("a")


@OTHER_GENERATIONS
def test_an_approval_for_another_generation_in_an_existing_request_does_not_count(
    begin: Begin, generation: int
) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.hub.open_approval(BEFORE, "one")
    run.approve(BEFORE, generation=generation)
    run.wait(60)
    assert run.phase is Phase.WAITING
    assert run.activities.handed_out == []


def test_an_approval_given_in_advance_counts(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]), takes=10)
    run.hub.open_approval(BEFORE, "one")
    run.approve(BEFORE)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert accepted(run, BEFORE)


def test_a_deleted_request_is_created_again_and_has_to_be_approved(at_gate: SimulatedRun) -> None:
    at_gate.delete_approval(BEFORE)
    at_gate.until_asked(BEFORE)
    at_gate.wait(60)
    assert at_gate.activities.handed_out == []

    at_gate.approve(BEFORE)
    at_gate.until_handed_out("a")


def test_an_approval_withdrawn_before_it_is_accepted_has_to_be_given_again(
    at_gate: SimulatedRun,
) -> None:
    at_gate.activities.takes["accept_approval"] = 5
    at_gate.approve(BEFORE)
    at_gate.wait(1)
    at_gate.hub.take_back_approval(BEFORE)
    at_gate.wait(60)
    assert at_gate.phase is Phase.WAITING
    assert at_gate.activities.handed_out == []

    at_gate.approve(BEFORE)
    at_gate.until_handed_out("a")


def test_an_existing_request_for_another_stage_ends_the_run(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.hub.open_approval(BEFORE, "two")
    assert run.outcome().reason == "UpdateRunFailed"
    assert "is targeting update run `/v2` and stage `two`" in run.succeeded.message
    assert run.activities.handed_out == []


def test_each_stage_requests_approval_only_when_it_is_due(begin: Begin) -> None:
    gates = {"before_stage_tasks": [APPROVAL]}
    run = begin(stage("one", "a", **gates), stage("two", "b", **gates), takes=10)
    run.until_asked(BEFORE)
    run.wait(60)
    assert list(run.hub.approvals) == [BEFORE]

    run.approve(BEFORE)
    run.until_asked("v2-before-two")
    assert run.updated == ["a"]
    run.wait(60)
    assert run.activities.handed_out == ["a"]


def test_an_empty_stage_is_skipped_without_its_gates(begin: Begin) -> None:
    gates = {"before_stage_tasks": [APPROVAL], "after_stage_tasks": [WAIT]}
    run = begin(stage("one", **gates), stage("two", "b"), takes=10)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.hub.approvals == {}
    assert run.timeline.passed < timedelta(seconds=90)
    assert [each.reason for each in run.stage().conditions] == [
        "StageUpdatingSkippedNoClusters"
    ] * 2


# -- approvals given in Temporal -----------------------------------------------------------


def test_an_approval_by_update_is_answered_and_shows_on_the_hub(at_gate: SimulatedRun) -> None:
    sent = at_gate.update("approve", Approve(by="alice", comment="looks good"))
    assert sent.result(Answer).text == "stage one (before) is approved"
    at_gate.until_handed_out("a")
    found = conditions.find(at_gate.hub.approvals[BEFORE].status.conditions, ConditionType.APPROVED)
    assert found is not None
    assert found.message == "looks good (by an unknown user of Temporal, who says: alice)"


def test_an_approval_by_signal_from_the_temporal_ui_counts(at_gate: SimulatedRun) -> None:
    at_gate.signal("approve", {"stage": "one"})
    at_gate.until_handed_out("a")
    assert accepted(at_gate, BEFORE)


def test_an_approval_without_a_stage_means_the_only_open_gate(at_gate: SimulatedRun) -> None:
    at_gate.signal("approve")
    at_gate.until_handed_out("a")


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        (
            Approve(stage="two"),
            "stage two has no open approval; open approvals: stage one (before)",
        ),
        (Approve(side=GateSide.AFTER), "the run has no open after-stage approval; open approvals"),
    ],
)
def test_an_approval_that_matches_no_gate_is_refused_and_leaves_no_trace(
    at_gate: SimulatedRun, message: Approve, refusal: str
) -> None:
    before = at_gate.temporal.events
    sent = at_gate.update("approve", message)
    assert sent.accepted is False
    assert sent.failure.startswith(refusal)
    assert at_gate.temporal.query("would_approve", message, kind=Forecast).refusal == sent.failure
    assert at_gate.temporal.events == before

    at_gate.signal("approve", message)
    at_gate.wait(60)
    assert at_gate.activities.handed_out == []


def test_the_open_gates_can_be_queried(at_gate: SimulatedRun) -> None:
    gate = PendingApproval(stage="one", side=GateSide.BEFORE, request=BEFORE)
    assert at_gate.temporal.query("pending_approvals", kind=list[PendingApproval]) == [gate]
    assert at_gate.temporal.query("would_approve", Approve(), kind=Forecast).gate == gate

    at_gate.approve(BEFORE)
    at_gate.until_handed_out("a")
    assert at_gate.temporal.query("pending_approvals", kind=list[PendingApproval]) == []


def test_if_only_approvals_on_the_hub_count_others_are_refused(begin: Begin) -> None:
    run = begin(
        stage("one", "a", before_stage_tasks=[APPROVAL]),
        temporal_approvals=TemporalApprovals.REFUSE,
    )
    run.until_asked(BEFORE)
    sent = run.update("approve", Approve(by="alice"))
    assert sent.accepted is False
    assert "Temporal does not know the hub's users" in sent.failure
    run.signal("approve", Approve(by="alice"))
    run.wait(60)
    assert run.activities.handed_out == []

    run.approve(BEFORE)
    run.until_handed_out("a")


def test_the_sender_is_notified_when_the_approval_request_was_just_deleted(
    at_gate: SimulatedRun,
) -> None:
    del at_gate.hub.approvals[BEFORE]
    sent = at_gate.update("approve", Approve())
    assert sent.accepted is True
    assert sent.failure == f"{BEFORE} no longer exists; approve it again"
    at_gate.wait(60)
    assert at_gate.activities.handed_out == []
    assert BEFORE in at_gate.hub.approvals


@pytest.mark.parametrize("arguments", [("one", "two"), ("one",), (Approve(), Approve())])
def test_a_message_that_no_handler_can_accept_does_not_stall_the_run(
    at_gate: SimulatedRun, arguments: tuple[object, ...]
) -> None:
    at_gate.signal("approve", *arguments)
    at_gate.wait(1)
    assert at_gate.update("approve", *arguments).accepted is False
    assert at_gate.activities.handed_out == []

    at_gate.approve(BEFORE)
    assert at_gate.outcome().reason == "UpdateRunSucceeded"


# -- timed waits ---------------------------------------------------------------------------


def test_a_timed_wait_counts_from_the_last_cluster_of_its_stage(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", after_stage_tasks=[WAIT]), takes=10)
    run.until(lambda: run.updated == ["a", "b"], "all clusters are updated")
    done_at = run.timeline.now
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert timedelta(seconds=89.9) < run.timeline.now - done_at < timedelta(seconds=90.5)
    assert [each.type for each in run.stage().after_stage_task_status[0].conditions] == [
        "WaitTimeElapsed"
    ]


@pytest.mark.parametrize(("approved_after", "over_after"), [(20, 90), (200, 200)])
def test_a_wait_and_an_approval_after_a_stage_open_together_and_both_have_to_pass(
    begin: Begin, approved_after: int, over_after: int
) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[WAIT, APPROVAL]), stage("two", "b"))
    run.until_handed_out("a")
    run.report("a")
    run.until_asked(AFTER)
    opened_at = run.timeline.passed
    assert run.progressing.message == (
        "The updateRun is waiting for after-stage tasks in stage one to complete"
    )
    run.wait(approved_after)
    assert run.activities.handed_out == ["a"]
    run.approve(AFTER)
    run.until_handed_out("b")
    waited = (run.timeline.passed - opened_at).total_seconds()
    assert over_after - 2 < waited < over_after + 1
