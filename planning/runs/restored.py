"""Detecting that the hub was restored from a backup, so that it knows less than Temporal.

The run then ends and says so. To continue would roll content out a second time, to clusters that
people may have rolled back on purpose.

contract: update-runs 11
"""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from api.base import format_time
from api.reasons import ConditionType, clusters_named
from api.runs import UpdateRunStatus
from planning import conditions, failures
from planning.runs.facts import HubFacts


class Ended(BaseModel):
    """End of a workflow whose run is still in progress on the hub."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    how: str
    """One word: succeeded, failed, terminated, cancelled…"""
    at: datetime
    by_itself: bool = True
    """True when the run came to its end; False when the workflow was ended in Temporal."""


def ended_text(ended: Ended) -> str:
    """Return the final message, on the hub, of a run whose workflow has ended."""
    when = f"{ended.how} at {format_time(ended.at)}"
    failure = failures.END_RESTORED if ended.by_itself else failures.ENDED_IN_TEMPORAL
    return str(failure.error(ended=when))


def check(facts: HubFacts, *, status: UpdateRunStatus) -> None:
    """Compare the bindings of clusters that are done with what the run gave them.

    A binding that was changed or created later is not the run's business. One that has had other
    content since before the run started its cluster was restored.

    Raises:
        RunAborted: the hub knows less than the run has done.
    """
    since = {each.cluster: each.since for each in facts.bindings if each.since}
    back = [name for name, begun in _done(status) if name in since and since[name] < begun]
    if back:
        raise failures.WORK_RESTORED.error(count=len(back), back=clusters_named(back))


def lost(facts: HubFacts, *, begun: dict[str, datetime]) -> list[str]:
    """Return the clusters in flight whose bindings do not show the update that was started."""
    return [
        each.cluster
        for each in facts.bindings
        if each.since
        and each.cluster in begun
        and each.since < begun[each.cluster].replace(microsecond=0)
    ]


def _done(status: UpdateRunStatus) -> list[tuple[str, datetime]]:
    """Return the clusters that were updated, with their start times."""
    return [
        (cluster.cluster_name, started.last_transition_time)
        for stage in status.stages_status
        for cluster in stage.clusters
        if conditions.has(cluster.conditions, ConditionType.SUCCEEDED)
        and (started := conditions.find(cluster.conditions, ConditionType.STARTED))
    ]
