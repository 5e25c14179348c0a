"""Waiting until a run has reacted to a request, and saying what it did."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import click

from api.runs import UpdateRun
from hub import Hub
from planning import durations
from planning.runs import phases, views
from planning.runs.phases import ENDED, Phase, Progress
from planning.runs.views import RunView, moved
from starter import tables, words
from starter.failures import CommandFailure, ExitCode
from starter.run.reading import versions
from starter.targets import Target

Look = Callable[[RunView], object]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waits for runs on one hub, each time up to the limit."""

    hub: Hub
    target: Target
    within: timedelta

    async def until(
        self, run: UpdateRun, holds: Look, *, what: str, seen: Look = lambda _: None
    ) -> RunView:
        """Follow a run until `holds` is true, and return its view; `seen` gets every view.

        Raises CommandFailure if that takes too long, with what the run waits for, or if the run was
        deleted.
        """
        name, view = run.metadata.name, views.of(run)
        try:
            async with (
                asyncio.timeout(self.within.total_seconds()),
                aclosing(versions(self.hub, self.target, run)) as found,
            ):
                async for each in found:
                    view = views.of(each)
                    seen(view)
                    if holds(view):
                        return view
        except TimeoutError as error:
            raise self._too_late(view, what) from error
        raise CommandFailure(f"run {name} was deleted", exit_code=ExitCode.NOT_FOUND)

    async def until_under_way(
        self, run: UpdateRun, *, also: Look = lambda _: True
    ) -> Sequence[str]:
        """Wait until a run makes progress, and return what it does.

        Raises CommandFailure if it failed.
        """
        before = views.of(run)
        after = await self.until(
            run,
            lambda view: also(view) and is_under_way(before, view),
            what="under way",
        )
        now = datetime.now(UTC)
        if after.phase is Phase.FAILED:
            text = f"run {after.name} {words.sentence(after, now)}"
            raise CommandFailure(text, advice="\n".join(tables.advice(after)))
        return list(going(before, after, now))

    async def until_stopped(self, run: UpdateRun, *, or_stuck: bool = False) -> RunView:
        """Wait until a run has nothing in flight, and print clusters as they finish.

        Stuck clusters are waited for too, unless `or_stuck` is set.
        """
        shown = views.of(run)

        def show(view: RunView) -> None:
            nonlocal shown
            lines = tables.moves(shown, view, datetime.now(UTC))
            if view.phase is Phase.STUCK and shown.phase is not Phase.STUCK:
                lines.append(words.sentence(view, datetime.now(UTC)))
            for line in lines:
                click.echo(line)
            shown = view

        def over(view: RunView) -> bool:
            stuck = or_stuck and view.up_to_date and view.phase is Phase.STUCK
            return stuck or has_stopped(view)

        return await self.until(run, over, what="stopped", seen=show)

    async def until_gone(self, run: UpdateRun) -> None:
        """Wait until a run that is being deleted no longer exists. Raises CommandFailure."""
        name = run.metadata.name
        try:
            async with (
                asyncio.timeout(self.within.total_seconds()),
                aclosing(versions(self.hub, self.target, run)) as found,
            ):
                async for _ in found:
                    pass
        except TimeoutError as error:
            raise CommandFailure(
                f"run {name} still exists after {self._time()}: no worker has cleaned up yet",
                advice="it is removed once a worker has done so; is one running?",
            ) from error

    def _too_late(self, view: RunView, what: str) -> CommandFailure:
        text = f"run {view.name} is not {what} after {self._time()}; {_where(view)}"
        return CommandFailure(text, advice=f"see {_command('watch', view)}")

    def _time(self) -> str:
        return durations.format_duration(self.within)


def _where(view: RunView) -> str:
    if view.phase not in phases.ENDED and not view.up_to_date:
        return f"no worker has reacted to its state {view.state} yet; is one running?"
    return f"it is still {words.sentence(view, datetime.now(UTC))}"


def _command(verb: str, view: RunView) -> str:
    return f"fleetgate run {verb} {view.name}{words.namespace_flag(view)}"


# -- what a run does after a request -------------------------------------------------------


_HALTED = frozenset({Phase.PENDING, Phase.PLANNED, Phase.STOPPING, Phase.STOPPED})


def is_under_way(before: RunView, after: RunView) -> bool:
    """Return whether there is something to show: clusters that started, a gate, a line, an end."""
    if after.phase in ENDED:
        return True
    if not after.up_to_date or after.phase in _HALTED:
        return False
    if after.phase is Phase.QUEUED:
        return True
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
