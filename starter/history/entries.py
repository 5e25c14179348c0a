"""Entries of a run's history: when, what, where, who, and why."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from api.reasons import PAUSED
from api.rollout_decisions import Decision, DecisionState
from api.rollout_reports import ClusterOutcome, ClusterReport
from planning import failures
from planning.events import Event
from planning.runs import run_events
from planning.runs.run_events import EventReason


class What(StrEnum):
    """What happened; programs may rely on the values."""

    CREATED = "created"
    TAKEN_UP = "taken up"
    """The workflow that drives the run was started."""
    PLANNED = "planned"
    ADOPTED = "adopted"
    """Temporal had lost the run's workflow; a new one resumed from the run's status."""
    ASKED_TO_RUN = "asked to run"
    ASKED_TO_STOP = "asked to stop"
    STOPPED = "stopped"
    RESUMED = "resumed"
    STAGE_STARTED = "stage started"
    CLUSTER_STARTED = "cluster started"
    CLUSTER_DONE = "cluster done"
    CLUSTER_LOST = "cluster lost"
    """Its binding was changed by something other than the run."""
    CLUSTER_FAILED = "cluster failed"
    TRIED_AGAIN = "tried again"
    """A cluster was not updated in time; a policy allows further attempts."""
    CLUSTER_TIMED_OUT = "cluster timed out"
    """A cluster was not updated in time in any attempt, and counts as failed."""
    CLUSTER_RECOVERED = "cluster recovered"
    """A cluster that had timed out was updated after all."""
    CLUSTER_SKIPPED = "cluster skipped"
    CLUSTER_RETRIED = "cluster retried"
    """A person had a cluster handed out once more."""
    DECISION_REFUSED = "decision refused"
    PAUSED = "paused"
    """A failure budget keeps the run from starting more clusters."""
    CONTINUED = "continued"
    """A person lets a paused run continue."""
    ROLLED_BACK = "rolled back"
    """Another run takes back the clusters that this one has changed."""
    REMOVAL_STARTED = "removal started"
    REMOVED = "removed"
    APPROVAL_ASKED = "approval asked"
    APPROVED = "approved"
    APPROVAL_IGNORED = "approval ignored"
    """An approval was given that does not count."""
    WAIT_STARTED = "wait started"
    WAIT_OVER = "wait over"
    STUCK = "stuck"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """The workflow was cancelled in Temporal."""
    TERMINATED = "terminated"
    """The workflow was terminated in Temporal."""
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a run."""

    at: datetime
    what: What
    side: str = ""
    """`before` or `after` the stage; for gates only."""
    stage: str = ""
    cluster: str = ""
    who: str = ""
    """A person, a Temporal client's identity, or `with <tool>` if only the tool is known."""
    comment: str = ""

    def cells(self) -> dict[str, str]:
        """Return all fields as text, the time as RFC 3339."""
        return asdict(self) | {"at": self.at.isoformat(), "what": str(self.what)}


# -- from events on the hub ----------------------------------------------------------------


_WHAT: Final[Mapping[str, What]] = {
    EventReason.INITIALIZED: What.PLANNED,
    EventReason.ADOPTED: What.ADOPTED,
    EventReason.STOPPED: What.STOPPED,
    EventReason.RESUMED: What.RESUMED,
    EventReason.STAGE_STARTED: What.STAGE_STARTED,
    EventReason.STUCK: What.STUCK,
    EventReason.PAUSED: What.PAUSED,
    EventReason.ROLLED_BACK: What.ROLLED_BACK,
    EventReason.SUCCEEDED: What.SUCCEEDED,
    EventReason.FAILED: What.FAILED,
}
"""What an event reports. Gates are reported by what opens them instead, decisions by what people
decided, and clusters by the run's report."""


def of_event(event: Event) -> HistoryEntry | None:
    """Return the entry for a Kubernetes event on a run; None if another source reports the same."""
    what = _WHAT.get(event.reason)
    if what is None:
        return None
    match what:
        case What.STAGE_STARTED if found := run_events.STAGE_STARTED.read(event.message):
            return HistoryEntry(event.at, what, stage=found["stage"], comment=found["clusters"])
        case What.ADOPTED if found := run_events.ADOPTED.read(event.message):
            return HistoryEntry(event.at, what, comment=run_events.RESUMING.fill(**found))
        case What.PLANNED if found := run_events.PLANNED_ONLY.read(event.message):
            # Without what to type next, which is not history.
            return HistoryEntry(event.at, what, comment=run_events.PLANNED.fill(**found))
        case What.ROLLED_BACK if found := run_events.ROLLED_BACK.read(event.message):
            return HistoryEntry(event.at, what, comment=failures.TAKES_BACK.fill(**found))
        case What.PAUSED:
            return HistoryEntry(event.at, what, comment=pause(event.message))
        case What.STOPPED | What.RESUMED | What.SUCCEEDED:
            return HistoryEntry(event.at, what)  # the message only repeats what happened
    return HistoryEntry(event.at, what, comment=failures.reason(event.message))


def pause(message: str) -> str:
    """Return why a run is paused, without what to do about it, which is not history."""
    found = PAUSED.read(message)
    return failures.TOO_MANY_FAILED.text.fill(**found) if found else message


# -- decisions -----------------------------------------------------------------------------


_DECIDED: Final[Mapping[str, What]] = {
    Decision.SKIP_CLUSTER: What.CLUSTER_SKIPPED,
    Decision.RETRY_CLUSTER: What.CLUSTER_RETRIED,
    Decision.CONTINUE: What.CONTINUED,
}


def of_decision(
    at: datetime, decision: str, *, state: str, answer: str, cluster: str, who: str, reason: str
) -> HistoryEntry | None:
    """Return the entry for a decision about the run; None for one of an unknown kind."""
    if state == DecisionState.REFUSED:
        comment = f"{decision}: {answer}"
        return HistoryEntry(at, What.DECISION_REFUSED, cluster=cluster, who=who, comment=comment)
    what = _DECIDED.get(decision)
    return HistoryEntry(at, what, cluster=cluster, who=who, comment=reason) if what else None


# -- the report ----------------------------------------------------------------------------


_SECOND: Final = timedelta(seconds=1)


def of_report(cluster: ClusterReport, written: datetime) -> HistoryEntry | None:
    """Return the entry for what a policy did to a cluster; None for anything else.

    A report has whole seconds, so the time at which it was written is better if it is as close.
    """
    at = written if written - cluster.since < 2 * _SECOND else cluster.since
    match cluster.outcome:
        case ClusterOutcome.RETRYING if not cluster.by:
            attempt = f"attempt {cluster.attempt}"
            return HistoryEntry(
                at, What.TRIED_AGAIN, stage=cluster.stage, cluster=cluster.name, comment=attempt
            )
        case ClusterOutcome.FAILED:
            return HistoryEntry(
                at,
                What.CLUSTER_TIMED_OUT,
                stage=cluster.stage,
                cluster=cluster.name,
                comment=cluster.message,
            )
    return None
