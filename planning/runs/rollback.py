"""Back to which version a placement goes, and with which strategy, when nobody says.

The API knows no rollback: it is a run of an older version.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from api.reasons import ConditionType
from api.runs import UpdateRun
from planning import conditions

_NEVER = datetime.min.replace(tzinfo=UTC)


class RollbackError(Exception):
    """There is nothing to go back to; the text says why."""


@dataclass(frozen=True, slots=True)
class Way:
    """The version to go back to."""

    index: str
    last: UpdateRun
    """The run that rolled out what is to be undone."""
    why: str
    """What speaks for this version, as the end of a sentence."""
    left_out: tuple[str, ...] = ()
    """Versions in between for which less speaks."""


def last_run(runs: Sequence[UpdateRun]) -> UpdateRun | None:
    """The run that was the last to begin with clusters; None if none ever did."""
    begun = [each for each in runs if _began_at(each)]
    return max(begun, key=lambda each: (_began_at(each) or _NEVER, _index(each)), default=None)


def strategy(runs: Sequence[UpdateRun]) -> str:
    """The strategy that was used last, or that of the newest run if none has begun.

    Raises RollbackError without a run.
    """
    newest = max(runs, key=lambda each: each.metadata.creation_timestamp or _NEVER, default=None)
    found = last_run(runs) or newest
    if found is None:
        raise RollbackError("no run of the placement is known, and so no strategy")
    return found.spec.staged_rollout_strategy_name


def way(runs: Sequence[UpdateRun], *, stored: Sequence[str], on_clusters: Collection[str]) -> Way:
    """The version before the one that the last run rolled out.

    Indexes are taken whenever content changes, so the one before may never have been anywhere.
    What a run rolled out to the end goes first, then what a run began to roll out or clusters
    have, then any; of these the newest.

    Args:
        runs: all runs of the placement that are known.
        stored: indexes of the versions that are there as a whole.
        on_clusters: indexes that clusters were given last.

    Raises:
        RollbackError: there is none before.
    """
    last = last_run(runs)
    if last is None:
        raise RollbackError("no run of the placement has rolled anything out")
    before = [each for each in stored if int(each) < _index(last)]
    if not before:
        raise RollbackError(
            f"run {last.metadata.name} rolled out snapshot {_index(last)}, "
            "and none before that is stored"
        )
    standings = {each: _standing(each, runs, on_clusters) for each in before}
    index = max(before, key=lambda each: (standings[each][0], int(each)))
    left_out = sorted((each for each in before if int(each) > int(index)), key=int)
    return Way(index, last, standings[index][1], tuple(left_out))


def _standing(
    index: str, runs: Sequence[UpdateRun], on_clusters: Collection[str]
) -> tuple[int, str]:
    """How much speaks for a version, and what."""
    used = [each for each in runs if each.status.resource_snapshot_index_used == index]
    done = [each for each in used if _succeeded(each)]
    if done:
        return 2, f"the newest before it that a run rolled out to the end ({_names(done)})"
    begun = [each for each in used if _began_at(each)]
    if begun:
        return 1, f"the newest before it that a run began to roll out ({_names(begun)})"
    if index in on_clusters:
        return 1, "the newest before it that clusters have"
    return 0, "the newest before it; no run is known to have rolled it out"


def _names(runs: Sequence[UpdateRun]) -> str:
    return ", ".join(sorted(each.metadata.name for each in runs))


def _succeeded(run: UpdateRun) -> bool:
    return conditions.has(run.status.conditions, ConditionType.SUCCEEDED)


def _began_at(run: UpdateRun) -> datetime | None:
    """When a run began with its first cluster."""
    if not run.status.resource_snapshot_index_used.isdecimal():
        return None
    started = (
        conditions.find(cluster.conditions, ConditionType.STARTED)
        for stage in run.status.stages_status
        for cluster in stage.clusters
    )
    return min((each.last_transition_time for each in started if each), default=None)


def _index(run: UpdateRun) -> int:
    return int(run.status.resource_snapshot_index_used)
