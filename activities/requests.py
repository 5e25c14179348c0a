"""What a workflow asks of its activities, and what they answer.

Each is one JSON object in workflow history: facts only, never a manifest (design D3).
"""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from api.bindings import Binding
from api.runs import RunState, UpdateRunStatus
from planning.bindings import Desired
from planning.events import Event
from planning.identity import RunRef
from planning.runs.facts import HubFacts


class Request(BaseModel):
    """Base of all requests and answers: immutable, unknown keys ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Survey(Request):
    """Look at everything that decides about a run."""

    run: RunRef
    label_keys: list[str] | None = None
    """Which labels of the clusters decide; None reads the strategy to find out."""
    settled: bool = True
    """Refuse, and so repeat, a look into the middle of somebody else's change."""
    content: str = ""
    """Resource snapshot to compare the bindings with; empty compares nothing."""
    recall: bool = False
    """Answer with the run's own status too."""
    known: str = ""
    """Digest of facts that need not be told again; empty tells all."""


class Surveyed(Request):
    """What the hub holds; nothing when the run itself is gone."""

    facts: HubFacts | None = None
    unchanged: bool = False
    """The facts are those that were known, and so are not told."""
    recorded: UpdateRunStatus | None = None
    """What the run's status says, if it was asked for and somebody has planned the run already."""


class FindSnapshot(Request):
    """Find the resource snapshot of an index, or take one of the hub's content as it is."""

    run: RunRef
    placement: str
    index: str = ""
    """As the user typed it; empty takes a snapshot."""
    clusters: list[str] = []


class WriteStatus(Request):
    """Bring a run's status on the hub up to date."""

    run: RunRef
    patch: list[dict[str, Any]]
    """JSON patch of the object."""
    resource_version: str = ""
    """Version that the patch is made for; empty when the patch holds the whole status."""
    rest: bool = False
    """Let the hub rest before the next write."""


class StatusWritten(Request):
    """How writing a status ended."""

    resource_version: str = ""
    """Version of the object afterwards; empty when somebody else changed it meanwhile."""
    generation: int = 0
    """Generation of its spec; 0 when that was not seen."""
    gone: bool = False
    """The run does not exist any more."""


class SetState(Request):
    """Write what a person asked of the workflow into the run's spec."""

    run: RunRef
    state: RunState
    by: str = ""
    comment: str = ""


class StateSet(Request):
    """What the run's spec says now."""

    state: RunState
    generation: int
    refused: str = ""
    """Why the API server did not take it; empty when it did."""


class OpenApproval(Request):
    """Make sure that an approval request exists."""

    run: RunRef
    name: str
    stage: str
    task_type: str
    """`beforeStage` or `afterStage`."""


class ApprovalState(Request):
    """What an approval request says."""

    approved: bool = False
    exists: bool = True
    given: str = ""
    """Who gave the approval, or with what tool, and what they said."""


class RecordApproval(Request):
    """Write an approval that was given to the workflow into its request."""

    run: RunRef
    name: str
    by: str = ""
    comment: str = ""


class AcceptApproval(Request):
    """Mark an approved request as accepted, which cannot be taken back."""

    run: RunRef
    name: str


class RecordEvents(Request):
    """Tell people what happened to a run."""

    run: RunRef
    events: list[Event]


def activity_of(cluster: str) -> str:
    """Id of the activity that works on a cluster.

    Not the bare name: a cluster may be called `7`, as Temporal calls the seventh activity.
    """
    return f"cluster/{cluster}"


class UpdateCluster(Request):
    """Roll the run's content out to one cluster."""

    run: RunRef
    placement: str
    stage: str
    cluster: str
    binding: str
    index: str
    """Index of the resource snapshot, for the binding's condition."""
    desired: Desired
    handed_out: datetime | None = None
    """When a workflow of the run that is lost handed the cluster out; None if none did."""


class RemoveCluster(Request):
    """Delete the binding of a cluster that is no longer picked."""

    run: RunRef
    cluster: str
    binding: str


class ClusterUpdated(Request):
    """How a cluster's update ended."""

    preempted: str = ""
    """Text of the contract when somebody else changed the binding; empty on success."""
    gone: bool = False
    """There is no binding any more."""

    @property
    def done(self) -> bool:
        """Whether the cluster has what the run wanted it to have."""
        return not (self.preempted or self.gone)


class ClusterWritten(Request):
    """What a cluster's activity has left on the hub; Temporal keeps it as heartbeat details."""

    uid: str
    generation: int
    """Of the binding, whose content and condition are as the run wants them."""
    failure: str = ""
    """Why the cluster is not done yet, for people who look in the Temporal UI."""

    @classmethod
    def of(cls, binding: Binding, *, failure: str = "") -> Self:
        """Note a binding as it is after the writes."""
        metadata = binding.metadata
        return cls(uid=metadata.uid, generation=metadata.generation, failure=failure)

    def is_left(self, binding: Binding) -> bool:
        """Whether the binding is still the one that was written, with the same content."""
        return self == self.of(binding, failure=self.failure)

    def may_precede(self, binding: Binding) -> bool:
        """Whether the binding, as it is followed, may be younger than what was written."""
        metadata = binding.metadata
        return metadata.uid != self.uid or metadata.generation >= self.generation


class FollowBindings(Request):
    """Watch the bindings of a placement and complete the clusters' activities."""

    run: RunRef
    placement: str
    stage: str
    clusters: dict[str, str]
    """Cluster to binding, of the clusters that the stage updates or removes."""
    desired: Desired | None = None
    """Content of every binding of the stage; None while the deletion stage removes them."""
    overrides: dict[str, Desired] = {}
    """Content for those clusters that differ from the others."""
