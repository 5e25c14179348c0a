"""The default snapshot and strategy of a rollback.

The API has no rollback: it is a run of an older snapshot.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from api.reasons import ConditionType
from api.runs import UpdateRun
from planning import conditions

_NEVER = datetime.min.replace(tzinfo=UTC)


class RollbackError(Exception):
    """There is nothing to roll back to; the text says why."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The snapshot to roll back to, and why."""

    index: str
    last: UpdateRun
    """The run to be undone."""
    why: str
    """Why this snapshot, as the end of a sentence."""
    left_out: tuple[str, ...] = ()
    """Indexes of newer snapshots that are less likely to be good."""


def last_run(runs: Sequence[UpdateRun]) -> UpdateRun | None:
    """Return the run that was the last to start a cluster; None if none ever did."""
    begun = [each for each in runs if _began_at(each)]
    return max(begun, key=lambda each: (_began_at(each) or _NEVER, _index(each)), default=None)


def undone(runs: Sequence[UpdateRun]) -> UpdateRun | None:
    """Return the run that a rollback undoes: the last one to start a cluster, or else the newest.

    None if there is no run.
    """
    newest = max(runs, key=lambda each: each.metadata.creation_timestamp or _NEVER, default=None)
    return last_run(runs) or newest


def strategy(runs: Sequence[UpdateRun]) -> str:
    """Return the strategy of the run that a rollback undoes.

    Raises RollbackError if there is no run.
    """
    found = undone(runs)
    if found is None:
        raise RollbackError("no run of the placement is known, so there is no strategy to reuse")
    return found.spec.staged_rollout_strategy_name


def choose(
    runs: Sequence[UpdateRun], *, stored: Sequence[str], on_clusters: Collection[str]
) -> Choice:
    """Return the snapshot to roll back to: the best before the one that the last run rolled out.

    A snapshot is taken whenever content changes, so the previous one may never have reached a
    cluster. Preferred is one that a run rolled out completely, then one that a run started to
    roll out or that clusters have, then any; among equals the newest.

    Args:
        runs: all runs of the placement that are known.
        stored: indexes of the snapshots that are complete.
        on_clusters: indexes that clusters were given last.

    Raises:
        RollbackError: no run has rolled anything out, or no earlier snapshot is stored.
    """
    last = last_run(runs)
    if last is None:
        raise RollbackError("no run of the placement has rolled anything out")
    before = [each for each in stored if int(each) < _index(last)]
    if not before:
        raise RollbackError(
            f"run {last.metadata.name} rolled out snapshot {_index(last)}, "
            "and no earlier snapshot is stored"
        )
    standings = {each: _standing(each, runs, on_clusters) for each in before}
    index = max(before, key=lambda each: (standings[each][0], int(each)))
    left_out = sorted((each for each in before if int(each) > int(index)), key=int)
    return Choice(index, last, standings[index][1], tuple(left_out))


def _standing(
    index: str, runs: Sequence[UpdateRun], on_clusters: Collection[str]
) -> tuple[int, str]:
    """Return how likely a snapshot is to be good, and why."""
    used = [each for each in runs if each.status.resource_snapshot_index_used == index]
    done = [each for each in used if _succeeded(each)]
    if done:
        return 2, f"the newest earlier one that a run rolled out completely ({_names(done)})"
    begun = [each for each in used if _began_at(each)]
    if begun:
        return 1, f"the newest earlier one that a run started to roll out ({_names(begun)})"
    if index in on_clusters:
        return 1, "the newest earlier one that clusters have"
    return 0, "the newest earlier one; no known run has rolled it out"


def _names(runs: Sequence[UpdateRun]) -> str:
    return ", ".join(sorted(each.metadata.name for each in runs))


def _succeeded(run: UpdateRun) -> bool:
    return conditions.has(run.status.conditions, ConditionType.SUCCEEDED)


def _began_at(run: UpdateRun) -> datetime | None:
    """Return when a run started its first cluster."""
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
