"""A run's history from its objects; the runs in `data/` were recorded on a KubeFleet hub."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api.approvals import ClusterApprovalRequest
from api.base import Condition
from api.names import CREATED_BY, ROLLBACK_OF
from api.rollout_decisions import BaseRolloutDecision
from planning import failures
from planning.events import Event, EventType
from planning.runs.approval_events import Given
from planning.runs.run_events import PLANNED_ONLY
from starter.history import entries, of_objects
from starter.history.entries import HistoryEntry, What
from starter.history.of_objects import Objects
from tests.starter.history.test_of_workflow import told
from tests.starter.test_views import recorded
from tests.support.conditions import condition

ROLLED_BACK = failures.ROLLED_BACK.error(
    failed=1,
    clusters=1,
    among="of stage staging",
    limit="rollout policy guard allows 0 (failures.most)",
    names="member2",
    rollback="v2-rollback",
    back="1 cluster",
    index=0,
)
STAGING = [
    "stage started / staging",
    "cluster started / staging / member2",
    "cluster done / staging / member2",
    "wait over / after / staging",
]


def event(reason: str, message: str = "") -> Event:
    return Event(reason=reason, message=message, at=datetime(2026, 11, 21, 2, 9, 6, tzinfo=UTC))


def request(message: str) -> ClusterApprovalRequest:
    approved = condition(
        "Approved", generation=None, reason="lgtm", message=message, at="2026-11-21T02:10:00Z"
    )
    body: dict[str, Any] = {
        "metadata": {"name": "example-run-before-canary"},
        "spec": {"parentStageRollout": "example-run", "targetStage": "canary"},
        "status": {"conditions": [approved]},
    }
    return ClusterApprovalRequest.from_wire(body)


def test_the_history_of_a_run_is_read_from_its_status() -> None:
    asked = request("fine (by alice)")
    objects = Objects(recorded("succeeded"), requests={asked.metadata.name: asked})
    lines = told(of_objects.entries(objects))
    assert lines[:2] == ["created", "planned"]
    assert lines[2:6] == STAGING
    assert "approval asked / before / canary / example-run-before-canary" in lines
    assert "approved / before / canary / alice / fine" in lines
    assert lines[-1] == "succeeded"


@pytest.mark.parametrize(
    ("moment", "last"),
    [
        ("stuck", "stuck"),
        ("stopped", "stopped"),
        ("initialization-failed", "failed / no resourceSnapshots with index `1` found"),
        ("preempted", "failed / the binding of the updating cluster `member2`"),
    ],
)
def test_the_last_entry_says_where_a_run_waits_or_ended(moment: str, last: str) -> None:
    assert told(of_objects.entries(Objects(recorded(moment))))[-1].startswith(last)


def test_what_both_status_and_events_report_is_listed_once() -> None:
    events = (
        event("Initialized", PLANNED_ONLY.fill(clusters="3 clusters", stages="2 stages", index=0)),
        event("StageStarted", "Stage staging started: 1 cluster, 1 at a time"),
        event("Resumed"),
        event("Waiting", "Waiting after stage staging for 20s to pass"),
    )
    lines = told(of_objects.entries(Objects(recorded("timed-wait"), events=events)))
    assert lines == [
        "created",
        "planned / Planned 3 clusters in 2 stages, for resource snapshot 0",
        "resumed",
        "stage started / staging / 1 cluster, 1 at a time",
        "cluster started / staging / member2",
        "cluster done / staging / member2",
    ]


def test_the_tool_that_created_the_run_is_named() -> None:
    def owning(manager: str, *fields: str) -> dict[str, Any]:
        spec: dict[str, Any] = {f"f:{field}": {} for field in fields}
        return {"manager": manager, "time": "2026-11-21T02:10:00Z", "fieldsV1": {"f:spec": spec}}

    run = recorded("planned")
    managers = [owning("kubectl-patch", "state"), owning("kubectl-create", "placementName")]
    body = run.metadata.to_wire() | {"managedFields": managers}
    run.metadata = run.metadata.model_validate(body)
    assert told(of_objects.entries(Objects(run)))[0] == "created / with kubectl-create"
    run.metadata.annotations[CREATED_BY] = "jane"
    assert told(of_objects.entries(Objects(run)))[0] == "created / jane with kubectl-create"


def test_a_rollback_is_listed_in_both_runs() -> None:
    run = recorded("preempted")
    run.status.conditions[-1].message = str(ROLLED_BACK)
    assert told(of_objects.entries(Objects(run)))[-2:] == [
        "rolled back / run v2-rollback takes 1 cluster back to snapshot 0",
        f"failed / {failures.reason(str(ROLLED_BACK))}",
    ]
    run.metadata.annotations[ROLLBACK_OF] = "v2"
    assert told(of_objects.entries(Objects(run)))[0].endswith("rolls back run v2")


def test_an_approval_that_does_not_count_is_listed() -> None:
    why = "The approval does not count: its condition Approved has no observedGeneration"
    warning = Event(
        type=EventType.WARNING,
        reason="ApprovalNotCounted",
        message=f"{why}, but the generation of the request is 1. To fix it: kubectl patch …",
        at=datetime(2026, 11, 21, 2, 12, tzinfo=UTC),
    )
    objects = Objects(recorded("approval-before-canary"), warnings=(warning,))
    last = told(of_objects.entries(objects))[-1]
    assert last == f"approval ignored / {why}, but the generation of the request is 1"


@pytest.mark.parametrize(
    ("given", "who", "said"),
    [
        (Given(message="fine (by alice)"), "alice", "fine"),
        (Given(message="ClusterApprovalRequest has been approved (by alice)"), "alice", ""),
        (Given(message="ClusterApprovalRequest has been approved"), "", ""),
        (
            Given(tool="kubectl-patch", message="looks good: very (by far) (by alice)"),
            "alice with kubectl-patch",
            "looks good: very (by far)",
        ),
        (Given(tool="kubectl-patch", message="looks good"), "with kubectl-patch", "looks good"),
        (
            Given(message="fine (by an unknown user of Temporal, who says: alice)"),
            "an unknown user of Temporal, who says: alice",
            "fine",
        ),
        (Given(message="stand by me: now"), "", "stand by me: now"),
        (Given(), "", ""),
    ],
)
def test_an_approval_says_who_gave_it(given: Given, who: str, said: str) -> None:
    assert (given.who, given.comment) == (who, said)


def test_history_before_a_lost_workflow_is_taken_from_the_objects() -> None:
    at = datetime(2026, 11, 21, 2, 9, 10, tzinfo=UTC)
    workflow = [
        HistoryEntry(at, What.TAKEN_UP),
        HistoryEntry(at, What.ADOPTED, comment="going on"),
        HistoryEntry(at, What.CLUSTER_STARTED, stage="canary", cluster="member3"),
    ]
    objects = Objects(recorded("succeeded"))
    lines = told(of_objects.beside(workflow, objects))
    begun = lines.index("taken up")
    assert lines[0] == "created"
    assert lines.count("created") == 1
    assert lines[begun:] == told(workflow)
    assert set(lines[:begun]) <= set(told(of_objects.entries(objects)))
    # A workflow that was there from the beginning has everything.
    assert told(of_objects.beside([workflow[0], workflow[2]], objects)) == [
        "created",
        *told([workflow[0], workflow[2]]),
    ]


def test_an_adoption_says_how_far_the_run_was() -> None:
    message = "Temporal no longer knew this run; resuming from what the hub recorded: 1 of 2"
    entry = entries.of_event(event("Adopted", message))
    assert entry is not None
    assert told([entry]) == ["adopted / resuming from what the hub recorded: 1 of 2"]


def decision(name: str, state: str, message: str, **spec: Any) -> BaseRolloutDecision:
    return BaseRolloutDecision.from_wire(
        {
            "apiVersion": "fleetgate.dev/v1alpha1",
            "kind": "ClusterRolloutDecision",
            "metadata": {"name": name},
            "spec": {"run": "example-run", "reason": "INC-7", "by": {"username": "jane"}} | spec,
            "status": {"state": state, "message": message, "at": "2026-11-21T02:12:00Z"},
        }
    )


def test_clusters_that_failed_and_what_people_decided_are_listed() -> None:
    run = recorded("stuck")
    (failed, skipped) = run.status.stages_status[1].clusters
    for cluster, reason, text in (
        (failed, "ClusterUpdatingTimedOut", "The cluster was not updated within 20m"),
        (skipped, "ClusterUpdatingSkipped", "Skipped by joe: INC-6"),
    ):
        ended = condition("Succeeded", "False", reason=reason, message=text)
        cluster.conditions = [Condition.from_wire(ended)]
    decided = (
        decision("1", "Counted", "ok", decision="RetryCluster", cluster=failed.cluster_name),
        decision("2", "Counted", "ok", decision="Continue"),
        decision("3", "Refused", "it is not in the run", decision="SkipCluster", cluster="x"),
    )
    lines = told(of_objects.entries(Objects(run, decisions=decided)))
    late = "The cluster was not updated within 20m"
    for line in (
        f"cluster timed out / canary / {failed.cluster_name} / {late}",
        f"cluster skipped / canary / {skipped.cluster_name} / joe / INC-6",
        f"cluster retried / canary / {failed.cluster_name} / jane / INC-7",
        "continued / jane / INC-7",
        "decision refused / x / jane / SkipCluster: it is not in the run",
    ):
        assert line in lines


def test_a_decision_to_skip_is_listed_once() -> None:
    run = recorded("stuck")
    cluster = run.status.stages_status[1].clusters[0]
    ended = condition(
        "Succeeded", "False", reason="ClusterUpdatingSkipped", message="Skipped by jane: INC-7"
    )
    cluster.conditions = [Condition.from_wire(ended)]
    made = decision("1", "Counted", "ok", decision="SkipCluster", cluster=cluster.cluster_name)
    lines = told(of_objects.entries(Objects(run, decisions=(made,))))
    assert sum(each.startswith("cluster skipped") for each in lines) == 1
