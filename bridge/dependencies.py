"""What runs under way depend on: when it has changed so that a run may not go on, tell it.

The bridge judges as the workflow will, from watches that follow the work: a run is told only of
what would end it or make it wait. So nothing that a rollout itself writes ever reaches it.

contract: update-runs 9, decision 8
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Final

from api import names
from api.bindings import Binding
from api.kinds import MEMBER_CLUSTER
from api.members import MemberCluster
from api.placements import Placement
from api.policies import PolicySnapshot
from api.reasons import ConditionType
from api.runs import RunState, UpdateRun
from bridge import deciding
from bridge.deciding import Deciding
from bridge.runs import RunIndex, is_active
from bridge.temporal import Signal, Workflows
from hub import Cache, Change, Controller, Key, SharedCaches
from planning import conditions, observing, stages, validation
from planning.errors import RunError
from planning.facts import HubFacts
from workflows.messages import Recheck

AT_MOST_EVERY: Final = timedelta(seconds=1)
"""Pause between two signals to one run, however much changes: it looks twice, 1 s apart."""
LONGEST_REASON: Final = 500
"""Characters of a signal's text in history; it is for people who read there."""
WORKERS: Final = 8
"""Runs that are judged side by side; each judgement is at most one request."""


@dataclass(slots=True)
class _Watch:
    """The watches of one run."""

    task: asyncio.Task[None]
    uid: str
    told_at: float = -AT_MOST_EVERY.total_seconds()
    told_of_fault: bool = False
    """The run was told that something is wrong, and not yet that it is right again."""
    caches: dict[str, Cache] = field(default_factory=dict)
    """Empty until all of them have their first list."""


class Dependencies:
    """Watches what the runs of one scope depend on, while they run."""

    def __init__(
        self, runs: RunIndex, placements: Cache, workflows: Workflows, shared: SharedCaches
    ) -> None:
        self._runs = runs
        self._placements = placements
        self._workflows = workflows
        self._shared = shared
        self._watches: dict[Key, _Watch] = {}
        self._controller = Controller("bridge of dependencies", self._judge, workers=WORKERS)

    async def run(self) -> None:
        """Judge runs whose dependencies change, until cancelled."""
        unsubscribe = self._placements.subscribe(self._note_placement)
        try:
            await self._controller.run()
        finally:
            unsubscribe()
            for key in tuple(self._watches):
                self._stop(key)

    def note(self, key: Key) -> None:
        """Begin or end watching for a run that has changed."""
        run, watch = self._runs.get(key), self._watches.get(key)
        if watch and (run is None or run.metadata.uid != watch.uid or not _is_under_way(run)):
            self._stop(key)
            watch = None
        if run and watch is None and _is_under_way(run):
            task = asyncio.create_task(self._follow(key, run), name=f"dependencies of {key}")
            self._watches[key] = _Watch(task, run.metadata.uid)
        elif run and watch and _deletes(run):
            # What it has deleted may be there again.
            self._controller.queue.add(key)

    def _stop(self, key: Key) -> None:
        self._watches.pop(key).task.cancel()

    async def _follow(self, key: Key, run: UpdateRun) -> None:
        """Hold the watches of one run until cancelled."""
        scope, namespace = self._runs.scope, key[0]
        parent = f"{names.PARENT_PLACEMENT}={run.spec.placement_name}"
        latest = f"{parent},{names.IS_LATEST_SNAPSHOT}=true"
        async with AsyncExitStack() as stack:
            use = self._shared.use
            caches = {
                "policies": use(scope.policy_snapshot, namespace=namespace, labels=latest),
                "bindings": use(scope.binding, namespace=namespace, labels=parent),
                "clusters": use(MEMBER_CLUSTER),
            }
            opened = {name: await stack.enter_async_context(use) for name, use in caches.items()}
            for name, cache in opened.items():
                stack.callback(cache.subscribe(self._noter(key, deciding.BY_KIND[name])))
            self._watches[key].caches = opened
            self._controller.queue.add(key)
            await asyncio.Event().wait()

    def _noter(self, key: Key, decides: Deciding) -> Callable[[Change], None]:
        def note(change: Change) -> None:
            if deciding.differs(change, decides):
                self._controller.queue.add(key)

        return note

    def _note_placement(self, change: Change) -> None:
        for key in self._watches:
            run = self._runs.get(key)
            if run and (key[0], run.spec.placement_name) == change.key:
                self._controller.queue.add(key)

    async def _judge(self, key: Key) -> timedelta | None:
        """Tell a run to look when it may not go on, or may again; returns when to judge again."""
        run, watch = self._runs.get(key), self._watches.get(key)
        if run is None or watch is None or not watch.caches:
            return None
        fault = self._fault(run, watch.caches)
        if fault is None and not watch.told_of_fault:
            return None
        wait = watch.told_at + AT_MOST_EVERY.total_seconds() - monotonic()
        if wait > 0:
            return timedelta(seconds=wait)
        watch.told_at, watch.told_of_fault = monotonic(), fault is not None
        reason = str(fault or "what was wrong is right again")[:LONGEST_REASON]
        await self._workflows.tell(self._runs.ref(run), Signal("recheck", Recheck(reason=reason)))
        return None

    def _fault(self, run: UpdateRun, caches: dict[str, Cache]) -> RunError | None:
        try:
            validation.check(self._facts(run, caches), run=self._runs.ref(run), status=run.status)
        except RunError as error:
            return error
        return None

    def _facts(self, run: UpdateRun, caches: dict[str, Cache]) -> HubFacts:
        found = self._placements.get(run.spec.placement_name, run.metadata.namespace)
        bindings = [
            observing.binding_fact(Binding.from_wire(each)) for each in caches["bindings"].items()
        ]
        return HubFacts(
            spec=run.spec,
            generation=run.metadata.generation,
            placement=observing.placement_fact(Placement.from_wire(found)) if found else None,
            policies=[
                observing.policy_fact(PolicySnapshot.from_wire(each))
                for each in caches["policies"].items()
            ],
            bindings=bindings,
            clusters=observing.cluster_facts(
                map(MemberCluster.from_wire, caches["clusters"].items()),
                bindings,
                stages.deciding_labels(run.status.staged_update_strategy_snapshot),
            ),
        )


def _is_under_way(run: UpdateRun) -> bool:
    """Whether the run has its plan and is to follow it; when it is resumed it looks by itself."""
    planned = conditions.has(run.status.conditions, ConditionType.INITIALIZED)
    return planned and is_active(run) and run.spec.state == RunState.RUN


def _deletes(run: UpdateRun) -> bool:
    """Whether the run is removing clusters."""
    stage = run.status.deletion_stage_status
    return stage is not None and bool(stage.clusters) and bool(stage.conditions)
