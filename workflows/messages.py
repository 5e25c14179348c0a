"""What goes into and comes out of an update run's workflow: input, messages, answers.

Every message is one JSON object whose fields have defaults, because that is what a person
can type into the Temporal UI, and because an older history must still decode. A signal whose
input does not decode is dropped by Temporal without a word, so nothing here is strict.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.runs import RunState, UpdateRunStatus
from planning.identity import RunRef
from planning.runs.initialization import Targets
from planning.runs.steering import Steered
from planning.runs.tasks import GateSide, Side

WORKFLOW: Final = "UpdateRun"
"""Workflow type, as the Temporal UI shows it."""


def _at_most(characters: int) -> AfterValidator:
    """Cut a longer text.

    What people send may be as long as Temporal takes, 2 MiB: what is made of it would be longer.
    """
    return AfterValidator(
        lambda text: text if len(text) <= characters else text[: characters - 1] + "…"
    )


Who = Annotated[str, _at_most(1000)]
Comment = Annotated[str, _at_most(30_000)]
"""With who it is from, this still is a condition's message (32,768)."""
StageName = Annotated[str, _at_most(64)]
"""A stage has 63 characters at most, so one that was cut is none."""
Generation = Annotated[int, Field(ge=0, lt=2**63)]
"""What else an object could not have, and no condition could speak of."""


class Message(BaseModel):
    """Base of all messages: immutable, unknown keys ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


DEFAULT_STUCK_AFTER: Final = timedelta(minutes=5)
"""How long a cluster may take before the run counts as stuck (contract: update-runs 5)."""


class Carried(Message):
    """All that a workflow knows and that must survive continuing as new."""

    status: UpdateRunStatus
    generation: int
    desired: RunState
    targets: Targets
    placement: str
    resource_version: str = ""
    asked: Steered = Steered()
    """Who asked for the desired state."""
    stage: int = 0
    """Index of the stage at work."""
    waiting: Side | None = None
    """Side of it whose gates are open."""
    waiting_since: datetime | None = None
    """When they opened."""
    approvals: list["PendingApproval"] = []
    """Gates that wait for an approval; it may be given at any moment."""
    looked: str = ""
    """Digest of the facts that were found right last, if they need not be told again."""


class TemporalApprovals(StrEnum):
    """What becomes of approvals that are given in Temporal alone."""

    ACCEPT = "accept"
    REFUSE = "refuse"


class UpdateRunInput(Message):
    """Input of the workflow."""

    run: RunRef
    stuck_after: timedelta = DEFAULT_STUCK_AFTER
    temporal_approvals: TemporalApprovals = TemporalApprovals.ACCEPT
    """Temporal does not know the hub's users: whether what it is told of an approval counts."""
    carried: Carried | None = None
    """What an earlier execution of the same workflow handed on."""
    searchable: bool = False
    """Temporal took the run's search attributes at its start, so it takes changes of them too. One
    that does not know them would refuse not only the change but all that the workflow does."""


class ChangeState(Message):
    """Argument of `pause` and `resume`, as signal and as update."""

    by: Who = ""
    """Who asks. What the hub has made sure of if there is a generation, else what somebody says."""
    comment: Comment = ""
    generation: Generation | None = None
    """Generation of the run's spec that says so, when the change was made on the hub already."""


class Approve(Message):
    """Argument of `approve`, as signal and as update."""

    stage: StageName = ""
    """Stage name; may be left out when exactly one approval is pending."""
    side: GateSide | None = None
    """`before` or `after`; may be left out when only one side of the stage is pending."""
    by: Who = ""
    """Who approves, as somebody says; the name on the ApprovalRequest is the one that counts."""
    comment: Comment = ""
    on_object: bool = False
    """The ApprovalRequest carries the approval already: it was given on the hub."""


class ApprovalLost(Message):
    """Argument of the signal `approval_lost`: an approval request was deleted on the hub."""

    stage: StageName
    side: GateSide


class Recheck(Message):
    """Argument of the signal `recheck`: something that the run depends on has changed."""

    reason: str = ""


class Answer(Message):
    """What a person who sent an update is told."""

    text: str


class PendingApproval(Message):
    """One approval that the run waits for."""

    stage: str
    side: GateSide
    request: str
    """Name of the (Cluster)ApprovalRequest."""


class Verdict(Message):
    """What would become of a message: whether it would be taken, and for which gate."""

    refusal: str = ""
    gate: PendingApproval | None = None


class Outcome(Message):
    """Result of the workflow: how the run ended."""

    reason: str
    """Reason of the run's deciding condition, for example `UpdateRunSucceeded`."""
    message: str
