"""The effects of starting or stopping a run. Pure: two views of the run in, text out."""

from collections.abc import Iterator
from datetime import datetime

from planning.runs.phases import ENDED, Phase
from planning.runs.views import Progress, RunView, moved
from starter import tables, words

_HALTED = frozenset({Phase.PENDING, Phase.PLANNED, Phase.STOPPING, Phase.STOPPED})


def is_under_way(before: RunView, after: RunView) -> bool:
    """Return whether there is something to show: clusters that started, a gate, or the end."""
    if after.phase in ENDED:
        return True
    if not after.up_to_date or after.phase in _HALTED:
        return False
    if after.phase is Phase.WAITING:
        # The status names the gate a moment after it says that the run is waiting.
        return bool(after.gates.approvals or after.gates.waits)
    in_flight = after.stage.names(Progress.UPDATING) if after.stage else []
    return bool(in_flight or _begun(before, after))


def has_stopped(view: RunView) -> bool:
    """Return whether the run has stopped or ended, with nothing left in flight."""
    return view.phase in ENDED or (view.up_to_date and view.phase is Phase.STOPPED)


def going(before: RunView, after: RunView, now: datetime) -> Iterator[str]:
    """Yield what a run does now that it did not do before, and the commands to type next."""
    begun = _begun(before, after)
    for stage, clusters in begun.items():
        verb = "continues" if stage in _entered(before) else "begins"
        yield f"stage {stage} {verb}: {words.named(clusters)}"
    if after.phase is not Phase.RUNNING or not begun:
        yield words.sentence(after, now)
    yield from (f"  {line}" for line in tables.advice(after))


def stopped(view: RunView, now: datetime) -> str:
    """Return how far a run got that was asked to stop."""
    if view.phase is Phase.STOPPED:
        return f"stopped; {view.done} of {words.count(view.total, 'cluster')} are done"
    return f"run {view.name} ended before it could stop: {words.sentence(view, now)}"


def _begun(before: RunView, after: RunView) -> dict[str, list[str]]:
    """Return the clusters that have started since, by stage."""
    begun: dict[str, list[str]] = {}
    in_flight = {
        (stage.name, name) for stage in before.stages for name in stage.names(Progress.UPDATING)
    }
    for stage, cluster in moved(before, after):
        if (stage.name, cluster.name) not in in_flight:
            begun.setdefault(stage.name, []).append(cluster.name)
    return begun


def _entered(view: RunView) -> set[str]:
    """Return the stages in which at least one cluster has started."""
    return {
        stage.name
        for stage in view.stages
        if any(each.progress is not Progress.AHEAD for each in stage.clusters)
    }
