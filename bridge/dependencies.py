"""Dependencies of runs in progress: notifying a run of changes after which it may not continue.

The bridge applies the same checks as the workflow, with the same rules, to the objects that it
watches. A run is notified only of changes that would end it or make it wait, and of clusters that
leave or join it if its rollout policy allows that; so never of the rollout's own writes.

contract: update-runs 9, decision 8; policies: 2.1 (membership)
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Final

from api.reasons import ConditionType
from api.rollout_reports import BaseRolloutReport
from api.runs import RunState, UpdateRun
from bridge.run_dependencies import RunDependencies, differs
from bridge.runs import RunIndex, is_live, key_of, logged_about_run
from bridge.temporal import Signal, Workflows
from hub import Cache, Change, Controller, Json, Key, SharedCaches
from planning import conditions
from planning.errors import RunError
from planning.policies import resolving
from planning.runs import validation
from planning.runs.facts import HubFacts
from planning.runs.membership import Joiner, Leaver
from planning.runs.phases import Phase, phase
from planning.runs.rules import NO_RULES, RunRules
from workflows.messages import Recheck

AT_MOST_EVERY: Final = timedelta(seconds=1)
"""Minimum pause between two signals to one run: its own check takes two looks, 1 s apart."""
LONGEST_REASON: Final = 500
"""Maximum number of characters of a signal's reason, which people may read in history."""
WORKERS: Final = 8
"""Runs that are checked concurrently; each check takes at most one request."""


@dataclass(slots=True)
class _RunWatch:
    """The watch for one run, and what the run has been notified of."""

    uid: str
    dependencies: RunDependencies
    task: asyncio.Task[None]
    signalled_at: float = -AT_MOST_EVERY.total_seconds()
    signalled_fault: bool = False
    """Whether the run was notified of a fault, and not yet that the fault is gone."""
    signalled_changes: frozenset[Leaver | Joiner] = frozenset()
    """Clusters that leave or join, of which the run was notified."""
    report: Json | None = None
    """The run's report that has its rules."""
    rules: RunRules = NO_RULES


class Dependencies:
    """Watches the objects that the runs of one scope depend on, while they run."""

    def __init__(
        self,
        runs: RunIndex,
        placements: Cache,
        reports: Cache,
        workflows: Workflows,
        shared: SharedCaches,
        *,
        lost: Callable[[Key], None],
    ) -> None:
        """`lost` is called for active runs whose workflow is missing."""
        self._runs = runs
        self._placements = placements
        self._reports = reports
        self._workflows = workflows
        self._shared = shared
        self._lost = lost
        self._watches: dict[Key, _RunWatch] = {}
        self._controller = Controller(
            "bridge of dependencies", self._judge, workers=WORKERS, around=logged_about_run
        )

    async def run(self) -> None:
        """Check runs whose dependencies change, until cancelled."""
        subscribed = (
            self._placements.subscribe(self._note_placement),
            self._reports.subscribe(self._note_report),
        )
        try:
            await self._controller.run()
        finally:
            for unsubscribe in subscribed:
                unsubscribe()
            for key in tuple(self._watches):
                self._stop(key)

    def note(self, key: Key) -> None:
        """Start or stop watching for a run that has changed."""
        run, watch = self._runs.get(key), self._watches.get(key)
        if watch and (run is None or run.metadata.uid != watch.uid or not _is_under_way(run)):
            self._stop(key)
            watch = None
        if run and watch is None and _is_under_way(run):
            self._start(key, run)
        elif run and watch and _deletes(run):
            # A binding that the run has deleted may exist again.
            self._controller.queue.add(key)

    def _start(self, key: Key, run: UpdateRun) -> None:
        dependencies = RunDependencies(run, scope=self._runs.scope, placements=self._placements)
        following = dependencies.follow(
            self._shared,
            changed=lambda: self._controller.queue.add(key),
        )
        task = asyncio.create_task(following, name=f"dependencies of {'/'.join(key)}")
        self._watches[key] = _RunWatch(run.metadata.uid, dependencies, task)

    def _stop(self, key: Key) -> None:
        self._watches.pop(key).task.cancel()

    def _note_placement(self, change: Change) -> None:
        for key, watch in self._watches.items():
            if watch.dependencies.placement == change.key:
                self._controller.queue.add(key)

    def _note_report(self, change: Change) -> None:
        if change.key in self._watches and differs(change, _rules_in):
            self._controller.queue.add(change.key)

    async def _judge(self, key: Key) -> timedelta | None:
        """Signal a run that may not continue, or may again; return when to check again."""
        run, watch = self._runs.get(key), self._watches.get(key)
        facts = watch.dependencies.facts(run) if run and watch else None
        if run is None or watch is None or facts is None:
            return None
        fault, changes = self._check(run, facts, self._rules(key, watch))
        news = [each for each in changes if each not in watch.signalled_changes]
        if not (news or fault or watch.signalled_fault):
            watch.signalled_changes = frozenset(changes)
            return None
        wait = watch.signalled_at + AT_MOST_EVERY.total_seconds() - monotonic()
        if wait > 0:
            return timedelta(seconds=wait)
        watch.signalled_at, watch.signalled_fault = monotonic(), fault is not None
        watch.signalled_changes = frozenset(changes)
        what = _described(news) if news else "the fault is gone"
        await self._signal(run, str(fault or what))
        return None

    def _check(
        self, run: UpdateRun, facts: HubFacts, rules: RunRules
    ) -> tuple[RunError | None, list[Leaver | Joiner]]:
        """Return why a run may not continue, or the clusters that leave and join it."""
        try:
            checked = validation.check(
                facts, run=self._runs.ref(run), status=run.status, rules=rules
            )
        except RunError as error:
            return error, []
        return None, [*checked.changes.left, *checked.changes.joined]

    def _rules(self, key: Key, watch: _RunWatch) -> RunRules:
        """Return a run's rules by its report, read once per version of the report."""
        namespace, name = key
        found = self._reports.get(name, namespace)
        if found is not watch.report:
            watch.report, watch.rules = found, _rules_of(found, watch.uid)
        return watch.rules

    async def _signal(self, run: UpdateRun, reason: str) -> None:
        signal = Signal("recheck", Recheck(reason=reason[:LONGEST_REASON]))
        if not await self._workflows.send(self._runs.ref(run), signal):
            self._lost(key_of(run))


def _is_under_way(run: UpdateRun) -> bool:
    """Return whether the run runs or is stopping; a resumed run checks by itself first."""
    if not conditions.has(run.status.conditions, ConditionType.INITIALIZED) or not is_live(run):
        return False
    is_stopping = run.spec.state == RunState.STOP and phase(run.status) is not Phase.STOPPED
    return run.spec.state == RunState.RUN or is_stopping


def _deletes(run: UpdateRun) -> bool:
    """Return whether the run is removing clusters."""
    stage = run.status.deletion_stage_status
    return stage is not None and bool(stage.clusters) and bool(stage.conditions)


# -- reports -------------------------------------------------------------------------------


def rules_kept(report: Json) -> Json:
    """Return the part of a report to keep in memory: whose it is, and its rules."""
    return report | {"status": {"policy": _rules_in(report)}}


def _rules_in(report: Json) -> object:
    return report.get("status", {}).get("policy", [])


def _rules_of(report: Json | None, uid: str) -> RunRules:
    owners = report["metadata"].get("ownerReferences", []) if report else []
    if report is None or all(each["uid"] != uid for each in owners):
        return NO_RULES
    return resolving.recorded(BaseRolloutReport.from_wire(report).status.policy)


def _described(changes: list[Leaver | Joiner]) -> str:
    return ", ".join(
        f"{each.cluster} {'leaves' if isinstance(each, Leaver) else 'joins'}" for each in changes
    )
