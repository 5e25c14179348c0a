"""Input, messages and answers of an update run's workflow.

Every message is one JSON object whose fields have defaults, because that is what a person
can type into the Temporal UI, and because an older history must still decode. Temporal silently
drops a signal whose input does not decode, so nothing here is strict.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.rollout_decisions import MAX_REASON
from api.rollout_reports import QueuePosition
from api.runs import RunState, UpdateRunStatus
from planning.identity import RunRef
from planning.policies.attempts import Attempt
from planning.policies.budgets import Exceeded, Failures
from planning.policies.reporting import Move, Setback
from planning.runs.gates import GateSide, PendingApproval, Side
from planning.runs.initialization import Targets
from planning.runs.rules import RunRules
from planning.runs.steering import Steered

WORKFLOW: Final = "UpdateRun"
"""Workflow type, as the Temporal UI shows it."""


def _at_most(characters: int) -> AfterValidator:
    """Return a validator that truncates text to this many characters.

    People may send up to 2 MiB, Temporal's limit for a payload; a text that quotes all of it would
    exceed the limit.
    """
    return AfterValidator(
        lambda text: text if len(text) <= characters else text[: characters - 1] + "…"
    )


Who = Annotated[str, _at_most(1000)]
Comment = Annotated[str, _at_most(30_000)]
"""Together with its author, this still fits a condition's message (32,768 characters)."""
StageName = Annotated[str, _at_most(64)]
"""Stage names have at most 63 characters, so a truncated one matches nothing."""
Reason = Annotated[str, _at_most(MAX_REASON)]
"""Why someone decides as they do."""
ClusterName = Annotated[str, _at_most(254)]
"""Names of clusters have at most 253 characters."""
Generation = Annotated[int, Field(ge=0, lt=2**63)]
"""A 64-bit integer, as in an object's metadata and in observedGeneration of a condition."""


class Message(BaseModel):
    """Base of all messages: immutable, unknown keys ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


DEFAULT_STUCK_AFTER: Final = timedelta(minutes=5)
"""How long a cluster may take before the run counts as stuck (contract: update-runs 5)."""


class Carried(Message):
    """All state of a workflow that must survive continue-as-new; at first, that of a new run."""

    status: UpdateRunStatus = Field(default_factory=UpdateRunStatus)
    generation: int = 0
    desired: RunState = RunState.INITIALIZE
    targets: Targets = Targets()
    placement: str = ""
    resource_version: str = ""
    asked: Steered = Steered()
    """Who asked for the desired state."""
    stage: int = 0
    """Index of the current stage."""
    waiting: Side | None = None
    """Side of that stage whose gates are open."""
    waiting_since: datetime | None = None
    """When they opened."""
    approvals: list[PendingApproval] = []
    """Gates that wait for an approval, which may be given at any moment."""
    rules: RunRules = RunRules()
    """What rollout policies said about the run when it was planned."""
    cluster_takes: timedelta | None = None
    """How long a cluster took in earlier runs, for the report; None if unknown."""
    attempts: dict[str, Attempt] = {}
    """The current attempts at clusters in flight that are not the first."""
    setbacks: dict[str, Setback] = {}
    """What happened to clusters that were not simply updated."""
    moves: dict[str, Move] = {}
    """Clusters that left or joined since the run was planned."""
    at_once: int = 0
    """How many clusters of the current stage may be in flight; 0 if that is not decided."""
    to_apply: list[str] = []
    """Clusters whose content is to be applied at once, because another attempt has begun."""
    accepted: Failures = Failures()
    """Failures that a person accepted by continuing the run."""
    exceeded: Exceeded | None = None
    """The failure budget that keeps the run from starting more clusters."""
    paused: bool = False
    """Whether that budget has paused the run."""
    decided: list[str] = []
    """UIDs of the decisions that were carried out or refused."""
    place: QueuePosition | None = None
    """Its place among runs of the placement that wait for each other."""
    superseded_by: str | None = None
    """The newer run that replaces this one, empty if its name is lost; None if none does."""
    looked: str = ""
    """Digest of the facts that passed the last check; empty if they have to be fetched again."""


class TemporalApprovals(StrEnum):
    """What happens to approvals and decisions that are made in Temporal alone."""

    ACCEPT = "accept"
    REFUSE = "refuse"


class UpdateRunInput(Message):
    """Input of the workflow."""

    run: RunRef
    stuck_after: timedelta = DEFAULT_STUCK_AFTER
    temporal_approvals: TemporalApprovals = TemporalApprovals.ACCEPT
    """Whether approvals and decisions made in Temporal alone count: Temporal does not know the
    hub's users."""
    carried: Carried | None = None
    """State handed on by an earlier execution of the same workflow."""
    searchable: bool = False
    """Whether Temporal accepted the run's search attributes at its start, and so accepts updates of
    them too. Where they are not registered, an update would make Temporal reject the whole workflow
    task."""


class ChangeState(Message):
    """Argument of `pause` and `resume`, as signal and as update."""

    by: Who = ""
    """Who asks: verified by the hub if there is a generation, otherwise as the sender claims."""
    comment: Comment = ""
    generation: Generation | None = None
    """Generation of the run's spec with this state, if the change was made on the hub."""


class Approve(Message):
    """Argument of `approve`, as signal and as update."""

    stage: StageName = ""
    """Name of the stage; may be left out when exactly one approval is pending."""
    side: GateSide | None = None
    """`before` or `after`; may be left out when only one side of the stage is pending."""
    by: Who = ""
    """Who approves, as claimed by the sender; only the name on the ApprovalRequest is binding."""
    comment: Comment = ""
    on_object: bool = False
    """Whether the ApprovalRequest has the approval already, because it was given on the hub."""


class Decided(Message):
    """Argument of the signal `decided`: there is a new decision about the run on the hub."""

    name: str
    """Name of the RolloutDecision."""
    uid: str


class Decide(Message):
    """Argument of the update `decide`: a decision that is made in Temporal alone."""

    decision: StageName = ""
    """`Continue`, `SkipCluster` or `RetryCluster`."""
    cluster: ClusterName = ""
    """The cluster to skip or to retry."""
    reason: Reason = ""
    by: Who = ""
    """Who decides, as claimed by the sender."""


class ApprovalLost(Message):
    """Argument of the signal `approval_lost`: an approval request was deleted on the hub."""

    stage: StageName
    side: GateSide


class Recheck(Message):
    """Argument of the signal `recheck`: something that the run depends on has changed."""

    reason: str = ""


SUPERSEDE: Final = "supersede"
"""Name of the signal with which the workflow of a newer run ends that of an older one."""
QUEUE_MOVED: Final = "queue_moved"
"""Name of the signal that other runs of the placement have changed."""


class Superseded(Message):
    """Argument of the signal `supersede`: a newer run of the placement replaces this one."""

    by: Comment = ""
    """Name of the newer run."""


class Answer(Message):
    """The answer to a person who sent an update."""

    text: str


class Forecast(Message):
    """What a message would do: why it would be refused, or which gate it would approve."""

    refusal: str = ""
    gate: PendingApproval | None = None


class RunOutcome(Message):
    """Result of the workflow: how the run ended."""

    reason: str
    """Reason of the run's deciding condition, for example `UpdateRunSucceeded`."""
    message: str
