"""What came of letting a run go on, or of stopping it. Pure: two looks at a run in, words out."""

from collections.abc import Iterator
from datetime import datetime

from planning.runs.phases import ENDED, Phase
from starter import tables, words
from starter.views import Progress, RunView, moved

_HALTED = frozenset({Phase.PENDING, Phase.PLANNED, Phase.STOPPING, Phase.STOPPED})


def is_under_way(before: RunView, after: RunView) -> bool:
    """Whether there is something to show: clusters that began, a gate, or the end."""
    if after.phase in ENDED:
        return True
    if not after.up_to_date or after.phase in _HALTED:
        return False
    if after.phase is Phase.WAITING:
        # A gate is named a moment after the run has begun to wait for it.
        return bool(after.gates.approvals or after.gates.waits)
    in_flight = after.stage.names(Progress.UPDATING) if after.stage else []
    return bool(in_flight or _begun(before, after))


def has_stopped(view: RunView) -> bool:
    """Whether nothing is in flight any more."""
    return view.phase in ENDED or (view.up_to_date and view.phase is Phase.STOPPED)


def going(before: RunView, after: RunView, now: datetime) -> Iterator[str]:
    """What a run does now that it did not before, and what a person could type next."""
    begun = _begun(before, after)
    for stage, clusters in begun.items():
        verb = "goes on" if stage in _entered(before) else "begins"
        yield f"stage {stage} {verb}: {words.named(clusters)}"
    if after.phase is not Phase.RUNNING or not begun:
        yield words.sentence(after, now)
    yield from (f"  {line}" for line in tables.advice(after))


def stopped(view: RunView, now: datetime) -> str:
    """How far a run came that was asked to stop."""
    if view.phase is Phase.STOPPED:
        return f"stopped; {view.done} of {words.count(view.total, 'cluster')} are done"
    return f"run {view.name} has ended before it could stop: {words.sentence(view, now)}"


def _begun(before: RunView, after: RunView) -> dict[str, list[str]]:
    """Clusters whose turn has come, by stage."""
    begun: dict[str, list[str]] = {}
    in_flight = {
        (stage.name, name) for stage in before.stages for name in stage.names(Progress.UPDATING)
    }
    for stage, cluster in moved(before, after):
        if (stage.name, cluster.name) not in in_flight:
            begun.setdefault(stage.name, []).append(cluster.name)
    return begun


def _entered(view: RunView) -> set[str]:
    """Stages of which a cluster's turn has come."""
    return {
        stage.name
        for stage in view.stages
        if any(each.progress is not Progress.AHEAD for each in stage.clusters)
    }
