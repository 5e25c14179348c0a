"""Views of runs as tables and lines for a terminal."""

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from planning import failures
from planning.runs.phases import Phase, Progress
from planning.runs.views import ClusterRow, RunView, StageRow, moved
from starter import columns, output, words
from starter.columns import Room

BAR_WIDTH = 30
"""Width of the progress bar in cells, which leaves space for the text beside it."""


def runs(
    views: Sequence[RunView], now: datetime, *, room: Room, wide: bool, headed: bool = True
) -> Text:
    """Return a table with one line per run; namespace only if a run has one, strategy if wide."""
    namespaced = any(view.namespace for view in views)
    headings = ["NAME", "PLACEMENT", "INDEX", "STATE", "DONE", "STAGE", "AGE", "NOW"]
    headings[:0] = ["NAMESPACE"] if namespaced else []
    headings[-1:-1] = ["STRATEGY"] if wide else []
    rows = []
    for view in views:
        row: list[str | Text] = [view.namespace] if namespaced else []
        row += [view.name, view.placement, view.snapshot, str(view.state), _progress(view)]
        row += [_stage_name(view), words.age(now - view.created) if view.created else ""]
        row += [view.strategy] if wide else []
        rows.append([*row, Text(words.phrase(view, now), style=output.STYLES.get(view.phase, ""))])
    name = headings.index("NAME")
    return columns.table(headings, rows, room=room, keep=name, headed=headed)


def clusters(view: RunView, now: datetime, *, room: Room) -> Text:
    """Return a table with one line per cluster, grouped by stage, and one per empty stage."""
    rows: list[Sequence[str | Text]] = []
    for stage in view.stages:
        label = f"{stage.name} (removes)" if stage.deletes else stage.name
        state = output.word(stage.progress)
        if not stage.clusters:
            rows.append([label, state, "", "", ""])
        for cluster in stage.clusters:
            rows.append([label, state, *cluster_cells(cluster, now)])
            label, state = "", Text()
    return columns.table(["STAGE", "", "CLUSTER", "", "TIME"], rows, room=room)


def conditions(view: RunView, now: datetime, *, room: Room) -> Text:
    """Return a table of the run's conditions; messages are wrapped, not truncated."""
    rows = [
        [
            each.type,
            str(each.status),
            words.age(now - each.last_transition_time),
            failures.reason(each.message),
        ]
        for each in view.conditions
    ]
    return columns.table(["CONDITION", "STATUS", "FOR", "MESSAGE"], rows, room=room, wrap=True)


def bar(view: RunView) -> Text:
    """Return the progress as a bar, with the count beside it."""
    return Text.assemble(meter(view.done, view.total, width=BAR_WIDTH), f" {_progress(view)}")


def meter(done: int, total: int, *, width: int) -> Text:
    """Return a bar that is filled in proportion to what is done."""
    filled = width * done // total if total else 0
    return Text.assemble(("━" * filled, "green"), ("─" * (width - filled), "dim"))


def advice(view: RunView) -> list[str]:
    """Return the commands that a person could type now."""
    if view.to_be_started:
        # A stopped run accepts no approval (contract: update-runs 10.3).
        return [f"fleetgate run start {view.name}{words.namespace_flag(view)}"]
    if view.phase is Phase.PAUSED:
        explain = f"fleetgate run explain {view.name}{words.namespace_flag(view)}"
        return [explain, *words.decide_commands(view)]
    if view.phase in {Phase.STUCK, Phase.QUEUED, Phase.FAILED}:
        explain = f"fleetgate run explain {view.name}{words.namespace_flag(view)}"
        return [explain, *words.watch_rollback(view)]
    return [words.approve_command(view, gate) for gate in view.gates.approvals]


def plain_changes(old: RunView | None, new: RunView, now: datetime, *, left: str = "") -> list[str]:
    """Return what changed between two views as lines, for output that cannot be redrawn.

    `left` is the estimate of what is left of the run.
    """
    lines = moves(old, new, now)
    if old is None or _stable(old, now) != _stable(new, now):
        lines.append(
            f"{_progress(new)} {words.sentence(new, now)}" + f"; left: {left}" * bool(left)
        )
        lines += [f"  {line}" for line in advice(new)]
    return lines


def moves(old: RunView | None, new: RunView, now: datetime) -> list[str]:
    """Return one line for each cluster whose progress has changed."""
    return [
        f"{stage.name}/{cluster.name} {_outcome(cluster, now)}"
        for stage, cluster in moved(old, new)
    ]


def _stable(view: RunView, now: datetime) -> tuple[object, ...]:
    """Return what must change for a new line about the run; clusters have their own lines."""
    if view.phase is Phase.RUNNING:
        return view.phase, _stage_name(view)
    # During a timed wait the sentence would differ each second.
    return view.phase, view.gates if view.gates.waits else words.sentence(view, now)


def _outcome(cluster: ClusterRow, now: datetime) -> str:
    if cluster.progress is Progress.DONE:
        return f"updated in {words.duration(cluster.took(now))}"
    text = str(cluster.progress)
    return f"{text}: {failures.reason(cluster.message)}" if cluster.message else text


def cluster_cells(cluster: ClusterRow, now: datetime) -> list[str | Text]:
    """Return a cluster's name, its progress, and its duration with why it failed."""
    detail = words.duration(cluster.took(now))
    if cluster.message:
        detail = f"{detail} {failures.reason(cluster.message)}"
    return [cluster.name, output.word(cluster.progress), detail]


def _progress(view: RunView) -> str:
    return f"{view.done}/{view.total}{words.set_back(view)}"


def _stage_name(view: RunView) -> str:
    stage: StageRow | None = view.stage
    return stage.name if stage else ""
