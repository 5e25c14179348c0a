"""Noticing that the hub was restored from a backup: it knows less than Temporal does.

Then a run ends, and says so. To go on would roll a version out a second time, on clusters that
people may have had reasons to take back.

contract: update-runs 11
"""

from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from api.base import format_time
from api.reasons import ConditionType, clusters_named
from api.runs import UpdateRunStatus
from planning import conditions
from planning.errors import abort
from planning.runs.facts import HubFacts

WHAT_TO_DO: Final = (
    "nothing was rolled out again; make a new run for the snapshot that the clusters shall have"
)


class Ended(BaseModel):
    """How the workflow of a run that the hub takes to be under way ended."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    how: str
    """One word: succeeded, failed, terminated, cancelled…"""
    at: datetime
    by_itself: bool = True
    """It came to the end of the run; otherwise somebody ended it in Temporal."""


def ended_text(ended: Ended) -> str:
    """What a run ends with on the hub whose workflow is over."""
    when = f"{ended.how} at {format_time(ended.at)}"
    if ended.by_itself:
        return str(
            abort(
                "the hub was restored from a backup that is older than this run's end "
                f"(Temporal: {when}); {WHAT_TO_DO}"
            )
        )
    return str(abort(f"the run's workflow was ended in Temporal ({when}); {WHAT_TO_DO}"))


def check(facts: HubFacts, *, status: UpdateRunStatus) -> None:
    """Compare the bindings of clusters that are done with what they were given.

    A binding that somebody changed since, or that was made since, is no matter of the run's. One
    that has had another content since before the run began with it was put back.

    Raises:
        RunAborted: the hub knows less than the run has done.
    """
    since = {each.cluster: each.since for each in facts.bindings if each.since}
    back = [name for name, begun in _done(status) if name in since and since[name] < begun]
    if back:
        raise abort(
            "the hub was restored from a backup that is older than what this run has done: "
            f"{len(back)} updated cluster(s) have an earlier content again "
            f"({clusters_named(back)}); {WHAT_TO_DO}"
        )


def lost(facts: HubFacts, *, begun: dict[str, datetime]) -> list[str]:
    """Clusters in flight whose bindings have no trace of having been handed out."""
    return [
        each.cluster
        for each in facts.bindings
        if each.since
        and each.cluster in begun
        and each.since < begun[each.cluster].replace(microsecond=0)
    ]


def _done(status: UpdateRunStatus) -> list[tuple[str, datetime]]:
    """Clusters that were updated, with when that began."""
    return [
        (cluster.cluster_name, started.last_transition_time)
        for stage in status.stages_status
        for cluster in stage.clusters
        if conditions.has(cluster.conditions, ConditionType.SUCCEEDED)
        and (started := conditions.find(cluster.conditions, ConditionType.STARTED))
    ]
