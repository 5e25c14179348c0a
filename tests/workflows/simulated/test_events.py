"""The Kubernetes events of a run, as people read them."""

from api.runs import RunState
from planning.events import EventType
from planning.identity import RunRef
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL, WAIT, both_scopes
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows.messages import Approve, ChangeState


def told(run: SimulatedRun) -> list[tuple[str, str]]:
    """Return reason and message of all events, in order."""
    return [(event.reason, event.message) for event in run.hub.events]


@both_scopes
def test_events_cover_a_run_from_its_plan_to_its_end(begin: Begin, run: RunRef, ns: str) -> None:
    whole = begin(
        stage("one", "a", "b", before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT]),
        leaving=("x",),
        takes=10,
        ref=run,
    )
    whole.until_asked("v2-before-one")
    whole.approve("v2-before-one")
    whole.outcome()
    command = f"fleetgate approve v2 one --before{f' -n {ns}' if ns else ''}"
    request = f"{run.scope.approval} v2-before-one"
    assert told(whole) == [
        ("Initialized", "Planned 2 clusters in 1 stage, for resource snapshot 1"),
        ("Waiting", f"Waiting before stage one for {request} to be approved ({command})"),
        ("Approved", "The approval before stage one was given: lgtm"),
        ("StageStarted", "Stage one started: 2 clusters, 1 at a time"),
        ("Waiting", "Waiting after stage one for 1m30s to pass"),
        ("StageStarted", "Stage kubernetes-fleet.io/deleteStage started: 1 cluster to be removed"),
        ("Succeeded", "All stages are completed successfully"),
    ]
    moments = [event.at for event in whole.hub.events]
    assert moments == sorted(set(moments))


def test_the_event_of_an_approval_through_temporal_says_who_gave_it(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]), takes=10)
    run.until_asked("v2-before-one")
    run.update("approve", Approve(by="alice", comment="looks good"))
    run.outcome()
    text = "looks good (by an unknown user of Temporal, who says: alice)"
    assert ("Approved", f"The approval before stage one was given: {text}") in told(run)


def test_a_stop_and_a_resume_are_recorded(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), state=RunState.INITIALIZE)
    run.until_phase(Phase.PLANNED)
    run.wait(1)
    run.resume()
    run.until_handed_out("a")
    run.stop()
    run.report("a")
    run.until_phase(Phase.STOPPED)
    run.wait(1)
    run.update("resume", ChangeState())
    run.wait(1)
    plan = "Planned 2 clusters in 1 stage, for resource snapshot 1"
    resumed = "The update run was resumed by an unknown user of Temporal"
    assert told(run) == [
        ("Initialized", f"{plan}; set spec.state to Run to start"),
        ("StageStarted", "Stage one started: 2 clusters, 1 at a time"),
        ("Stopped", "The update run has been stopped; set spec.state to Run to resume"),
        ("Resumed", f"{resumed}; it continues where it was stopped"),
    ]


def test_a_stuck_cluster_is_a_warning(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.until_phase(Phase.STUCK)
    run.wait(1)
    last = run.hub.events[-1]
    assert (last.type, last.reason) == (EventType.WARNING, "Stuck")
    assert last.message == run.progressing.message


def test_a_run_that_cannot_be_initialized_warns_with_its_reason(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.hub.snapshots = []
    run.outcome()
    (event,) = run.hub.events
    assert (event.type, event.reason) == (EventType.WARNING, "Failed")
    assert "no resourceSnapshots with index `1` found" in event.message


def test_a_run_that_cannot_continue_warns_with_its_reason(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.until_handed_out("a")
    run.hub.placement = None
    run.changed()
    run.outcome()
    last = run.hub.events[-1]
    assert (last.type, last.reason) == (EventType.WARNING, "Failed")
    assert last.message == run.succeeded.message
    assert last.message.endswith("parent placement not found")


def test_events_that_happen_during_a_write_are_written_afterwards_in_order(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), stage("two", "b"), takes=1)
    run.activities.takes["record_events"] = 4
    run.outcome()
    assert run.told == ["Initialized", "StageStarted", "StageStarted", "Succeeded"]
    assert run.activities.attempts["record_events"] < 4
