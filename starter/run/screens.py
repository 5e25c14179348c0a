"""Showing a run as it changes: as a board that is redrawn on a terminal, line by line elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Protocol

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from api.runs import UpdateRun
from planning.runs.estimating import Estimate, estimate
from planning.runs.phases import Progress
from planning.runs.views import ClusterRow, RunView, StageRow
from starter import columns, output, tables, words
from starter.columns import Room

CLUSTERS_AT_MOST = 10
"""Maximum number of clusters shown; more would be hard to read."""
CLUSTERS_AT_LEAST = 3
"""Lines reserved for clusters, however many stages there are."""
STAGES_AT_LEAST = 3
"""Lines for stages on the smallest screen: the current stage, and the counts before and after."""
OF_STAGES = 2
"""Extra lines around the stages: an empty line and the headings."""
OF_CLUSTERS = 3
"""Extra lines around the clusters: an empty line, the headings, and how many more there are."""
STAGE_BAR = 20
"""Width of a stage's progress bar in cells; the run's own bar is longer."""


@dataclass(frozen=True, slots=True)
class HubUnreachable:
    """The hub is unreachable."""

    why: str
    since: datetime


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A watched run as it was last read."""

    run: UpdateRun
    view: RunView
    earlier: Sequence[timedelta] = ()
    """How long clusters took in earlier runs of the same placement and strategy."""

    def estimate(self, now: datetime) -> Estimate | None:
        """Estimate what is left of the run."""
        return estimate(self.run.status, now=now, earlier=self.earlier)


def board(
    seen: WatchedRun,
    now: datetime,
    *,
    width: int,
    height: int,
    trouble: HubUnreachable | None = None,
) -> RenderableType:
    """Draw stages with bars, the clusters that matter now, what the run waits for, and hints."""
    view, at_work = seen.view, _at_work(seen.view)
    head, below = _head(seen, now), [*_advice(view), *_trouble(trouble, now)]
    room = height - len(head) - len(below)
    reserved = OF_CLUSTERS + min(len(at_work), CLUSTERS_AT_LEAST) if at_work else 0
    stages = _stages(view, now, room=room - reserved, width=width)
    clusters = _clusters(at_work, now, room=room - len(stages), width=width)
    return Group(*head, *stages, *clusters, *below)


def _head(seen: WatchedRun, now: datetime) -> list[Text]:
    view = seen.view
    title = f"  placement {view.placement}, strategy {view.strategy}"
    left = words.left(seen.estimate(now))
    return [
        Text.assemble((view.name, "bold"), title),
        Text.assemble(tables.bar(view), f"  left: {left}" if left else ""),
        Text(words.sentence(view, now), style=output.STYLES.get(view.phase, "")),
    ]


def _advice(view: RunView) -> list[Text]:
    lines = [Text(f"  {line}") for line in tables.advice(view)]
    return [Text(), *lines] if lines else []


def _trouble(trouble: HubUnreachable | None, now: datetime) -> list[Text]:
    if trouble is None:
        return []
    text = f"lost the hub {words.age(now - trouble.since)} ago, still trying: {trouble.why}"
    return [Text(), Text(text, style="bold red", overflow="ellipsis", no_wrap=True)]


# -- stages --------------------------------------------------------------------------------


def _stages(view: RunView, now: datetime, *, room: int, width: int) -> list[Text]:
    if not view.stages:
        return []
    rows = [_stage(stage, view, now) for stage in view.stages]
    most = max(room - OF_STAGES, STAGES_AT_LEAST)
    if len(rows) > most:
        rows = _around(rows, _position(view), most=most)
    table = columns.table(["STAGE", "", "DONE", "", "TIME", "WAITS FOR"], rows, room=Room(width))
    return [Text(), *table.split()]


def _stage(stage: StageRow, view: RunView, now: datetime) -> columns.Row:
    waits = [words.awaited_there(gate, now) for gate in view.gates.open if gate.stage == stage.name]
    total = len(stage.clusters)
    return [
        f"{stage.name} (removes)" if stage.deletes else stage.name,
        tables.meter(stage.done, total, width=STAGE_BAR),
        f"{stage.done}/{total}",
        output.word(stage.progress),
        words.duration(_took(stage, now)),
        ", ".join(waits),
    ]


def _took(stage: StageRow, now: datetime) -> timedelta | None:
    """Return the time from the start of the first cluster to the end of the last, or until now."""
    starts = [each.started for each in stage.clusters if each.started]
    ends = [each.ended for each in stage.clusters if each.ended]
    if not starts:
        return None
    return (max(ends) if len(ends) == len(stage.clusters) else now) - min(starts)


def _position(view: RunView) -> int:
    """Return the index of the current stage, or of the last."""
    return view.stages.index(view.stage) if view.stage else len(view.stages) - 1


def _around(rows: list[columns.Row], position: int, *, most: int) -> list[columns.Row]:
    """Return at most `most` rows: those around the current stage, and how many are left out."""
    shown = max(most - 2, 1)
    context = 1 if shown > 1 else 0  # show the previous stage too if there is space
    first = max(min(position - context, len(rows) - shown), 0)
    last = first + shown
    before = [_count(first, "before")] if first else []
    after = [_count(len(rows) - last, "after")] if last < len(rows) else []
    return [*before, *rows[first:last], *after]


def _count(number: int, where: str) -> columns.Row:
    return [Text(f"and {number} {where}", style="dim"), "", "", "", "", ""]


# -- clusters ------------------------------------------------------------------------------


def _at_work(view: RunView) -> list[ClusterRow]:
    """Return the clusters that failed, then those in flight, each group longest first."""
    return _of(view, Progress.FAILED) + _of(view, Progress.UPDATING)


def _of(view: RunView, progress: Progress) -> list[ClusterRow]:
    clusters = (each for stage in view.stages for each in stage.clusters)
    begun = ((each.started, each) for each in clusters if each.started)
    found = [(started, each) for started, each in begun if each.progress is progress]
    return [each for _, each in sorted(found, key=itemgetter(0))]


def _clusters(found: Sequence[ClusterRow], now: datetime, *, room: int, width: int) -> list[Text]:
    most = min(room - OF_CLUSTERS, CLUSTERS_AT_MOST)
    if not found or most < 1:
        return []
    rows = [tables.cluster_cells(each, now) for each in found[:most]]
    lines = [Text(), *columns.table(["CLUSTER", "", "TIME"], rows, room=Room(width)).split()]
    more = len(found) - most
    return [*lines, Text(f"and {more} more", style="dim")] if more > 0 else lines


# -- screens -------------------------------------------------------------------------------


REDRAWN_PER_SECOND = 4
"""Often enough for ages in seconds to tick smoothly."""


class Screen(Protocol):
    """Shows a run each time it changes."""

    def show(self, seen: WatchedRun) -> None:
        """Show the run as it is now."""

    def trouble(self, why: str) -> None:
        """Show why the hub is unreachable; an empty text means that it is back."""


@contextmanager
def screen(console: Console) -> Iterator[Screen]:
    """Provide the screen that fits where the output goes."""
    if not console.is_terminal:
        yield Lines()
        return
    table = LiveBoard(console)
    with Live(
        console=console,
        get_renderable=table.render,
        refresh_per_second=REDRAWN_PER_SECOND,
        vertical_overflow="crop",
    ):
        yield table


class Lines:
    """One line for each change, with the time of day."""

    def __init__(self) -> None:
        self._shown: RunView | None = None
        self._troubled = False

    def show(self, seen: WatchedRun) -> None:
        """Print what has changed since the last call."""
        now = datetime.now(UTC)
        left = words.left(seen.estimate(now))
        for line in tables.plain_changes(self._shown, seen.view, now, left=left):
            _say(line, now)
        self._shown = seen.view

    def trouble(self, why: str) -> None:
        """Print that the hub is unreachable, once, and that it is back."""
        if why and not self._troubled:
            _say(f"lost the hub, still trying: {why}", datetime.now(UTC))
        elif not why:
            _say("reached the hub again", datetime.now(UTC))
        self._troubled = bool(why)


def _say(line: str, now: datetime) -> None:
    click.echo(f"{now.astimezone():%H:%M:%S} {line}")


class LiveBoard:
    """A screen that is redrawn regularly, because ages change even if nothing else does."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: WatchedRun | None = None
        self._trouble: HubUnreachable | None = None

    def show(self, seen: WatchedRun) -> None:
        """Draw the run from now on."""
        self._seen = seen

    def trouble(self, why: str) -> None:
        """Draw how long the hub has been unreachable, and why."""
        since = self._trouble.since if self._trouble else datetime.now(UTC)
        self._trouble = HubUnreachable(why, since) if why else None

    def render(self) -> RenderableType:
        """Draw the run as of now."""
        if self._seen is None:
            return Text("")
        # One line is left for the cursor.
        width, height = self._console.width, self._console.height - 1
        now = datetime.now(UTC)
        return board(self._seen, now, width=width, height=height, trouble=self._trouble)
