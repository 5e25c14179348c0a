"""What a run will do next: the remaining clusters, the gates, the next stage. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from api.runs import UpdateRun
from api.strategies import Stage, StageTask
from planning.errors import RunAborted
from planning.runs import concurrency
from planning.runs.gates import KINDS
from planning.runs.phases import Progress
from planning.runs.views import RunView, StageRow
from starter import words

_OVER: Final = (Progress.DONE, Progress.SKIPPED)


def of(run: UpdateRun, view: RunView) -> tuple[str, ...]:
    """Return the next steps up to and including the next stage; later stages are counted."""
    ahead = [each for each in view.stages if each.progress not in _OVER]
    if not ahead:
        return ()
    present, *later = ahead
    strategy = run.status.staged_update_strategy_snapshot
    declared = {each.name: each for each in (strategy.stages if strategy else [])}
    steps = [*_present(present, declared.get(present.name))]
    coming = [each for each in later if each.clusters]
    if coming:
        steps.append(_stage(coming[0], declared.get(coming[0].name)))
    if rest := coming[1:]:
        steps.append(f"then {words.count(len(rest), 'more stage')}")
    return (*steps, "then the run is done")


def _present(stage: StageRow, declared: Stage | None) -> Iterator[str]:
    begun = any(each.started for each in stage.clusters)
    waiting = stage.names(Progress.AHEAD)
    if waiting and begun:
        yield f"then {words.named(waiting)} in stage {stage.name}{_at_once(stage, declared)}"
    elif waiting:
        yield _clusters(stage, declared)
    done = len(stage.names(Progress.DONE)) == len(stage.clusters)
    if declared and declared.after_stage_tasks and not done:
        yield f"after stage {stage.name}: {_gates(declared.after_stage_tasks)}"


def _stage(stage: StageRow, declared: Stage | None) -> str:
    first = declared.before_stage_tasks if declared else []
    gate = f", after {_gates(first)}" if first else ""
    return f"{_clusters(stage, declared)}{gate}"


def _clusters(stage: StageRow, declared: Stage | None) -> str:
    names = [each.name for each in stage.clusters]
    if stage.deletes:
        return f"then removal from {words.named(names)}, no longer picked"
    return f"then stage {stage.name}: {words.named(names)}{_at_once(stage, declared)}"


def _at_once(stage: StageRow, declared: Stage | None) -> str:
    total = len(stage.clusters)
    try:
        most = concurrency.limit(declared.max_concurrency if declared else None, clusters=total)
    except RunAborted:
        return ""  # an invalid value; the run fails with it and says so
    return f", {min(most, total)} at a time" if total > 1 and not stage.deletes else ""


def _gates(tasks: Sequence[StageTask]) -> str:
    texts = (KINDS[each.type].declared(each) for each in tasks)
    return " and ".join(f"{'an' if each[0] in 'aeiou' else 'a'} {each}" for each in texts)
