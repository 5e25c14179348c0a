"""A run's history from its workflow: a recorded one, and rare events."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import (
    WorkflowExecutionCancelRequestedEventAttributes,
    WorkflowExecutionCompletedEventAttributes,
    WorkflowExecutionFailedEventAttributes,
    WorkflowExecutionTerminatedEventAttributes,
)
from temporalio.client import WorkflowHistory

from activities.requests import (
    AcceptApproval,
    ApprovalState,
    ClusterUpdated,
    OpenApproval,
    RecordApproval,
    RecordEvents,
    RemoveCluster,
    SetState,
    StateSet,
)
from api.kinds import ScopeName
from api.runs import RunState
from planning.identity import RunRef
from planning.runs import run_events
from planning.runs.approval_events import Given
from planning.runs.gates import GateSide
from starter.history import of_workflow
from starter.history.entries import HistoryEntry
from starter.history.of_workflow import Place
from tests.starter.history.written import BEGIN, CONVERTER, Written, payloads
from workflows.messages import Approve, ChangeState, Decide, RunOutcome
from workflows.update_run import DELETED

HISTORIES = Path(__file__).parents[2] / "workflows" / "histories"
RUN = RunRef(scope_name=ScopeName.CLUSTER, name="run", uid="uid")
GATE = "run-before-prod"


def told(entries: list[HistoryEntry]) -> list[str]:
    """Return the fields of each entry on one line, without the time."""
    cells = [list(each.cells().values())[1:] for each in entries]
    return [" / ".join(filter(None, each)) for each in cells]


@pytest.fixture
def written() -> Written:
    return Written()


def test_an_eventful_run_is_listed_from_beginning_to_end() -> None:
    text = (HISTORIES / "0.1.0" / "eventful.json").read_text()
    events = WorkflowHistory.from_json("recorded", text).events
    assert told(of_workflow.entries(events, CONVERTER)) == [
        "taken up / eventful by eventful",
        "planned / Planned 3 clusters in 3 stages, for resource snapshot 0",
        "asked to run / spec.state was set on the object",
        "stage started / staging / 1 cluster, 1 at a time",
        "cluster started / staging / one",
        (
            "stuck / The updateRun is stuck waiting for one cluster(s) in stage staging to finish"
            " updating, please check placement status for potential errors"
        ),
        "cluster done / staging / one",
        "wait started / after / staging / 1s",
        "wait over / after / staging / 1s",
        "approval asked / before / canary / eventful-before-canary",
        "approved / before / canary / lgtm",
        "stage started / canary / 2 clusters, 1 at a time",
        "cluster started / canary / three",
        "asked to stop / an unknown user of Temporal, who says: alice / lunch",
        "cluster done / canary / three",
        "stopped",
        "asked to run / spec.state was set on the object",
        "cluster started / canary / two",
        "cluster done / canary / two",
        "approval asked / after / canary / eventful-after-canary",
        "approved / after / canary / an unknown user of Temporal, who says: alice / fine",
        "stage started / kubernetes-fleet.io/deleteStage / 1 cluster to be removed",
        "removal started / four",
        "removed / four",
        "succeeded",
    ]


def test_a_signal_without_a_name_is_attributed_to_its_client(written: Written) -> None:
    written.signal("pause", identity="ui@somewhere")
    written.signal("resume", ChangeState(by="alice", comment="go"), identity="ui@somewhere")
    assert told(written.entries()) == [
        "asked to stop / ui@somewhere",
        "asked to run / an unknown user of Temporal, who says: alice / go",
    ]


def test_a_request_in_the_object_is_listed_with_the_name_there(written: Written) -> None:
    written.signal("pause", ChangeState(by="alice", comment="lunch", generation=2))
    written.signal("resume", ChangeState(by="bob", generation=3))
    assert told(written.entries()) == [
        "asked to stop / alice / lunch",
        "asked to run / bob / spec.state was set on the object",
    ]


def test_a_request_that_the_workflow_wrote_to_the_object_is_listed_once(written: Written) -> None:
    written.signal("pause", ChangeState(by="alice"))
    written.signal("pause", ChangeState(generation=2))
    answer = StateSet(state=RunState.STOP, generation=2)
    written.activity("set_state", SetState(run=RUN, state=RunState.STOP), answer)
    written.signal("resume", ChangeState(generation=3))
    written.signal("resume", ChangeState(generation=3))
    assert told(written.entries()) == [
        "asked to stop / an unknown user of Temporal, who says: alice",
        "asked to run / spec.state was set on the object",
    ]


@pytest.mark.parametrize(
    ("given", "approved"),
    [
        (
            Given(tool="kubectl-patch", message="lgtm"),
            "approved / before / prod / with kubectl-patch / lgtm",
        ),
        (Given(message="fine (by bob)"), "approved / before / prod / bob / fine"),
        (Given(message="lgtm"), "approved / before / prod / lgtm"),
    ],
)
def test_an_approval_in_the_object_is_listed_as_written_there(
    written: Written, given: Given, approved: str
) -> None:
    ask(written)
    written.signal("approve", Approve(stage="prod", side=GateSide.BEFORE, on_object=True))
    record(written, "carol", "too late")
    accept(written, given)
    assert told(written.entries())[1:] == [approved]


def test_a_decision_made_in_temporal_is_listed_once_it_is_carried_out(written: Written) -> None:
    skip = Decide(decision="SkipCluster", cluster="a", reason="INC-7", by="jane")
    written.update("decide", skip)
    written.update("decide", skip.model_copy(update={"cluster": "b"}), fault="it has left")
    assert told(written.entries()) == [
        "cluster skipped / a / an unknown user of Temporal, who says: jane / INC-7"
    ]


def test_the_first_of_several_approvals_opens_the_gate(written: Written) -> None:
    ask(written)
    record(written, "alice", "fine")
    record(written, "bob", "me too")
    accept(written, Given(message="fine (by alice)"))
    asked, approved = written.entries()
    assert told([approved]) == ["approved / before / prod / alice / fine"]
    assert (approved.at - asked.at).seconds == 2, "when alice approved, not when it was accepted"


def test_a_lost_approval_does_not_count(written: Written) -> None:
    ask(written)
    record(written, "alice", "fine")
    ask(written)
    record(written, "bob", "again")
    accept(written, Given(message="again (by bob)"))
    assert told(written.entries())[-1] == "approved / before / prod / bob / again"


def test_what_a_rollback_does_to_failed_clusters_is_not_listed(written: Written) -> None:
    event = run_events.rolled_back(
        rollback="run-rollback", back="1 cluster", index="0", now=BEGIN + timedelta(seconds=2)
    )
    written.activity("record_events", RecordEvents(run=RUN, events=[event]))
    lost = ClusterUpdated(preempted=True)
    written.activity("update_cluster", Place(cluster="a", stage="one"), lost)
    assert told(written.entries()) == [
        "rolled back / run run-rollback takes 1 cluster back to snapshot 0",
        "cluster started / one / a",
    ]


def test_the_outcome_of_each_cluster_is_listed(written: Written) -> None:
    lost = ClusterUpdated(preempted=True)
    written.activity("update_cluster", Place(cluster="a", stage="one"), lost)
    written.activity("update_cluster", Place(cluster="b", stage="one"), ClusterUpdated(gone=True))
    written.activity("update_cluster", Place(cluster="c", stage="one"), fault="no binding")
    written.activity("remove_cluster", RemoveCluster(run=RUN, cluster="d", binding="p-d"))
    assert told(written.entries()) == [
        "cluster started / one / a",
        "cluster lost / one / a / its binding was changed by someone else",
        "cluster started / one / b",
        "cluster lost / one / b / its binding was replaced",
        "cluster started / one / c",
        "cluster failed / one / c / no binding",
        "removal started / d",
    ]


def test_it_is_listed_how_a_workflow_was_ended_from_outside(written: Written) -> None:
    cancelled = WorkflowExecutionCancelRequestedEventAttributes(cause="enough", identity="cli@host")
    written.add(
        "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
        workflow_execution_cancel_requested_event_attributes=cancelled,
    )
    deleted = WorkflowExecutionCancelRequestedEventAttributes(cause=DELETED, identity="7@host")
    written.add(
        "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
        workflow_execution_cancel_requested_event_attributes=deleted,
    )
    terminated = WorkflowExecutionTerminatedEventAttributes(reason="hung", identity="ui@host")
    written.add(
        "WORKFLOW_EXECUTION_TERMINATED", workflow_execution_terminated_event_attributes=terminated
    )
    failed = WorkflowExecutionFailedEventAttributes(failure=Failure(message="a defect"))
    written.add("WORKFLOW_EXECUTION_FAILED", workflow_execution_failed_event_attributes=failed)
    for reason in ("Gone", "UpdateRunSucceeded"):
        completed = WorkflowExecutionCompletedEventAttributes(
            result=payloads(RunOutcome(reason=reason, message="the run no longer exists"))
        )
        written.add(
            "WORKFLOW_EXECUTION_COMPLETED", workflow_execution_completed_event_attributes=completed
        )
    assert told(written.entries()) == [
        "cancelled / cli@host / enough",
        "deleted",
        "terminated / ui@host / hung",
        "failed / a defect",
        "deleted / the run no longer exists",
    ]


def test_unknown_messages_of_a_newer_version_are_skipped(written: Written) -> None:
    written.signal("dance", ChangeState(by="alice"))
    written.signal("pause", RunOutcome(reason="other", message="fields"), identity="ui@host")
    written.activity("update_cluster", SetState(run=RUN, state=RunState.RUN), ClusterUpdated())
    written.activity("polish", SetState(run=RUN, state=RunState.RUN), ClusterUpdated())
    assert told(written.entries()) == ["asked to stop / ui@host"]


def ask(written: Written) -> None:
    request = OpenApproval(run=RUN, name=GATE, stage="prod", task_type="beforeStage")
    written.activity("open_approval", request, ApprovalState())


def record(written: Written, by: str, comment: str) -> None:
    request = RecordApproval(run=RUN, name=GATE, by=by, comment=comment)
    written.activity("record_approval", request, ApprovalState(approved=True))


def accept(written: Written, given: Given) -> None:
    answer = ApprovalState(approved=True, given=given)
    written.activity("accept_approval", AcceptApproval(run=RUN, name=GATE), answer)
