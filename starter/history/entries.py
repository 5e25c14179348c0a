"""One line of a run's history: when, what, where, who, and why."""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum


class What(StrEnum):
    """What happened; programs may rely on the words."""

    CREATED = "created"
    TAKEN_UP = "taken up"
    """A workflow was started that drives the run."""
    PLANNED = "planned"
    ADOPTED = "adopted"
    """Temporal had lost the run's workflow; another one goes on from the status."""
    ASKED_TO_RUN = "asked to run"
    ASKED_TO_STOP = "asked to stop"
    STOPPED = "stopped"
    RESUMED = "resumed"
    STAGE_STARTED = "stage started"
    CLUSTER_STARTED = "cluster started"
    CLUSTER_DONE = "cluster done"
    CLUSTER_LOST = "cluster lost"
    """Somebody else changed its binding."""
    CLUSTER_FAILED = "cluster failed"
    REMOVAL_STARTED = "removal started"
    REMOVED = "removed"
    APPROVAL_ASKED = "approval asked"
    APPROVED = "approved"
    APPROVAL_IGNORED = "approval ignored"
    """Somebody approved, but not what was asked for."""
    WAIT_STARTED = "wait started"
    WAIT_OVER = "wait over"
    STUCK = "stuck"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Somebody cancelled the workflow in Temporal."""
    TERMINATED = "terminated"
    """Somebody terminated the workflow in Temporal."""
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened to a run."""

    at: datetime
    what: What
    side: str = ""
    """`before` or `after` the stage; of gates only."""
    stage: str = ""
    cluster: str = ""
    who: str = ""
    """A person, a Temporal client's identity, or `with <tool>` where no more is known."""
    comment: str = ""

    def cells(self) -> dict[str, str]:
        """All fields as text; the time as RFC 3339."""
        return asdict(self) | {"at": self.at.isoformat(), "what": str(self.what)}
