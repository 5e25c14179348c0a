"""What goes into and comes out of an update run's workflow: input, messages, answers.

Every message is one JSON object whose fields have defaults, because that is what a person
can type into the Temporal UI, and because an older history must still decode. A signal whose
input does not decode is dropped by Temporal without a word, so nothing here is strict.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict

from api.runs import RunState, UpdateRunStatus
from planning.identity import RunRef
from planning.runs.initialization import Targets

WORKFLOW: Final = "UpdateRun"
"""Workflow type, as the Temporal UI shows it."""


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


class UpdateRunInput(Message):
    """Input of the workflow."""

    run: RunRef
    stuck_after: timedelta = DEFAULT_STUCK_AFTER
    carried: Carried | None = None
    """What an earlier execution of the same workflow handed on."""
    searchable: bool = False
    """Temporal took the run's search attributes at its start, so it takes changes of them too. One
    that does not know them would refuse not only the change but all that the workflow does."""


class GateSide(StrEnum):
    """Which side of its stage a gate stands on."""

    BEFORE = "before"
    AFTER = "after"


class ChangeState(Message):
    """Argument of `pause` and `resume`, as signal and as update."""

    by: str = ""
    """Who asks; free text."""
    comment: str = ""
    generation: int | None = None
    """Generation of the run's spec that says so, when the change was made on the hub already."""


class Approve(Message):
    """Argument of `approve`, as signal and as update."""

    stage: str = ""
    """Stage name; may be left out when exactly one approval is pending."""
    side: GateSide | None = None
    """`before` or `after`; may be left out when only one side of the stage is pending."""
    by: str = ""
    comment: str = ""
    on_object: bool = False
    """The ApprovalRequest carries the approval already (it was made with kubectl)."""


class ApprovalLost(Message):
    """Argument of the signal `approval_lost`: an approval request was deleted on the hub."""

    stage: str
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


class Outcome(Message):
    """Result of the workflow: how the run ended."""

    reason: str
    """Reason of the run's deciding condition, for example `UpdateRunSucceeded`."""
    message: str
