"""Requests of workflows to their activities, and the answers.

Each is one JSON object in workflow history: facts only, never a manifest (decision record 0038).
"""

from datetime import datetime, timedelta
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from api.bindings import Binding
from api.rollout_decisions import DecisionState
from api.rollout_reports import RolloutReportStatus
from api.runs import RunState, UpdateRunStatus
from planning.bindings import Desired
from planning.events import Event
from planning.identity import RunRef
from planning.policies.reporting import Remembered
from planning.runs.approval_events import Given
from planning.runs.facts import HubFacts
from planning.runs.rules import RunRules


class ActivityMessage(BaseModel):
    """Base of all requests and answers: immutable, unknown keys ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Survey(ActivityMessage):
    """Request to read everything that decides about a run."""

    run: RunRef
    label_keys: list[str] | None = None
    """Labels of the clusters that matter; None determines them from the strategy."""
    settled: bool = True
    """Whether to fail, and so retry, while others are half way through a change."""
    content: str = ""
    """Resource snapshot to compare the bindings with; empty compares nothing."""
    recall: bool = False
    """Whether to return the run's own status too."""
    known: str = ""
    """Digest of facts that need not be returned again; empty returns them in any case."""


class Surveyed(ActivityMessage):
    """Facts read from the hub; empty if the run itself is gone."""

    facts: HubFacts | None = None
    unchanged: bool = False
    """Whether the facts are the known ones, and therefore not returned."""
    remembered: Remembered = Remembered()
    """The run's rules, which are KubeFleet's without a policy; and what else its report says, if
    the run has been planned already."""
    cluster_takes: timedelta | None = None
    """How long a cluster took in earlier runs; None if unknown, or if no rules apply."""
    recorded: UpdateRunStatus | None = None
    """The run's status, if it was requested and the run has been planned already."""


class FindSnapshot(ActivityMessage):
    """Request to find the resource snapshot with an index, or to take a new one."""

    run: RunRef
    placement: str
    index: str = ""
    """As typed by the user; empty takes a new snapshot of the hub's current content."""
    clusters: list[str] = []


class WriteStatus(ActivityMessage):
    """Request to update a run's status on the hub."""

    run: RunRef
    patch: list[dict[str, Any]]
    """JSON patch of the object."""
    resource_version: str = ""
    """Version of the object that the patch is for; empty if the patch has the whole status."""
    rest: bool = False
    """Whether to pause before the next write, to spare the hub."""


class StatusWritten(ActivityMessage):
    """Result of a status write."""

    resource_version: str = ""
    """Version of the object afterwards; empty if someone else changed it meanwhile."""
    generation: int = 0
    """Generation of its spec; 0 if unknown."""
    gone: bool = False
    """Whether the run no longer exists."""


class SetState(ActivityMessage):
    """Request to write a state that a person requested from the workflow to the run's spec."""

    run: RunRef
    state: RunState
    by: str = ""
    comment: str = ""


class StateSet(ActivityMessage):
    """State in the run's spec after the write."""

    state: RunState
    generation: int
    refused: str = ""
    """Why the API server refused the write; empty if it did not."""


class OpenApproval(ActivityMessage):
    """Request to make sure that an approval request exists."""

    run: RunRef
    name: str
    stage: str
    task_type: str
    """`beforeStage` or `afterStage`."""


class ApprovalState(ActivityMessage):
    """State of an approval request."""

    approved: bool = False
    exists: bool = True
    given: Given = Given()
    """How the approval was given."""


class RecordApproval(ActivityMessage):
    """Request to write an approval that the workflow received to its approval request."""

    run: RunRef
    name: str
    by: str = ""
    comment: str = ""


class AcceptApproval(ActivityMessage):
    """Request to mark an approved approval request as accepted, which cannot be undone."""

    run: RunRef
    name: str


class RollBack(ActivityMessage):
    """Request to create the run that rolls back another one."""

    run: RunRef
    """The run to be rolled back."""
    placement: str
    stage: str
    """Name of the stage in which too many clusters failed."""
    rules: RunRules


class RolledBack(ActivityMessage):
    """The run that rolls back another one, or why no run does."""

    run: str = ""
    """Name of that run; empty if no run does."""
    index: str = ""
    """Index of the snapshot that it rolls out."""
    clusters: int = 0
    """How many clusters it takes back."""
    stay: dict[str, str] = {}
    """Clusters that it leaves as they are, each with the index it had before; empty if none."""
    why_not: str = ""


class WriteReport(ActivityMessage):
    """Request to write a run's report."""

    run: RunRef
    placement: str
    report: RolloutReportStatus


class ReadLine(ActivityMessage):
    """Request to read the runs of a placement, as one of them sees them."""

    run: RunRef
    placement: str


class DecisionMade(ActivityMessage):
    """What a person has decided."""

    decision: str
    """A value of `api.rollout_decisions.Decision`, or of a later release."""
    cluster: str = ""
    reason: str = ""
    by: str = ""
    """Who decided: as the API server authenticated them, or as they say in Temporal."""


class ReadDecision(ActivityMessage):
    """Request to read a decision about a run."""

    run: RunRef
    name: str
    uid: str


class DecisionRead(ActivityMessage):
    """A decision on the hub; empty if the run has none of this name and UID."""

    made: DecisionMade | None = None


class AnswerDecision(ActivityMessage):
    """Request to write to a decision what became of it."""

    run: RunRef
    name: str
    uid: str
    made: DecisionMade
    state: DecisionState
    message: str
    at: datetime


class RecordEvents(ActivityMessage):
    """Request to record events about a run."""

    run: RunRef
    events: list[Event]


def activity_of(cluster: str) -> str:
    """Return the id of the activity for a cluster.

    It is not the bare name: a cluster may be called `7`, which is also Temporal's id for the
    seventh activity.
    """
    return f"cluster/{cluster}"


class UpdateCluster(ActivityMessage):
    """Request to roll the run's content out to one cluster."""

    run: RunRef
    placement: str
    stage: str
    cluster: str
    binding: str
    index: str
    """Index of the resource snapshot, for the binding's condition."""
    desired: Desired
    handed_out: datetime | None = None
    """When a lost workflow of the run handed the cluster out; None if none did."""
    notes_before: bool = False
    """Whether to note on the binding what it had before, because a rollout policy applies."""


class ApplyAgain(ActivityMessage):
    """Request to have the content of one cluster applied once more, at once."""

    run: RunRef
    cluster: str
    binding: str
    at: datetime
    """When the attempt began; it tells attempts apart."""


class RemoveCluster(ActivityMessage):
    """Request to delete the binding of a cluster that is no longer picked."""

    run: RunRef
    cluster: str
    binding: str


class ClusterUpdated(ActivityMessage):
    """Result of a cluster's update."""

    preempted: bool = False
    """Whether someone else changed the binding."""
    gone: bool = False
    """Whether the binding no longer exists."""

    @property
    def done(self) -> bool:
        """Whether the cluster has the desired content."""
        return not (self.preempted or self.gone)


class ClusterWritten(ActivityMessage):
    """The binding that a cluster's activity wrote, kept by Temporal as heartbeat details."""

    uid: str
    generation: int
    """Generation of the binding with the desired content and condition."""
    failure: str = ""
    """Why the cluster is not done yet, shown in the Temporal UI."""

    @classmethod
    def of(cls, binding: Binding, *, failure: str = "") -> Self:
        """Record a binding as it is after the writes."""
        metadata = binding.metadata
        return cls(uid=metadata.uid, generation=metadata.generation, failure=failure)

    def is_left(self, binding: Binding) -> bool:
        """Return whether the binding is still the one that was written, with the same content."""
        return self == self.of(binding, failure=self.failure)

    def may_precede(self, binding: Binding) -> bool:
        """Return whether the binding, as seen by the watch, may be newer than what was written."""
        metadata = binding.metadata
        return metadata.uid != self.uid or metadata.generation >= self.generation


class FollowBindings(ActivityMessage):
    """Request to watch the bindings of a placement and complete the clusters' activities."""

    run: RunRef
    placement: str
    stage: str
    clusters: dict[str, str]
    """Binding by cluster, for the clusters that the stage updates or removes."""
    desired: Desired | None = None
    """Content of every binding of the stage; None if the deletion stage removes them."""
    overrides: dict[str, Desired] = {}
    """Content for the clusters that differ from the others."""
