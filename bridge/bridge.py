"""The bridge as a whole: the watches and controllers for both scopes."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from prometheus_client import CollectorRegistry
from temporalio.client import Client

from api.kinds import SCOPES, Kind, Scope
from bridge.approvals import ApprovalReconciler, open_requests
from bridge.decisions import DecisionReconciler
from bridge.dependencies import Dependencies, rules_kept
from bridge.metrics import RunMetrics
from bridge.presence import KnownWorkflow, Presence
from bridge.queueing import Queues
from bridge.runs import (
    RunIndex,
    RunReconciler,
    is_damaged,
    is_live,
    is_planned,
    kept,
    key_of,
    logged_about_run,
)
from bridge.temporal import Workflows
from hub import Cache, Change, Controller, Hub, Key, SharedCaches
from planning.runs import tampering
from telemetry import logged_about
from workflows.messages import DEFAULT_STUCK_AFTER, TemporalApprovals

WORKERS = 8
"""Objects of one kind that are reconciled concurrently; each takes a request or two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSettings:
    """How the bridge starts workflows."""

    task_queue: str = "fleetgate"
    """Temporal task queue of the workers."""
    stuck_after: timedelta = field(default=DEFAULT_STUCK_AFTER)
    """How long a cluster may take before its run counts as stuck."""
    temporal_approvals: TemporalApprovals = TemporalApprovals.ACCEPT
    """Whether approvals given in Temporal alone count."""


class Bridge:
    """Passes changes that people make to objects on to the workflows, for runs of both scopes.

    The metrics of the runs go into `registry`. The objects that runs depend on are watched through
    `caches`, which can be shared with the engine in the same process.
    """

    def __init__(
        self,
        hub: Hub,
        client: Client,
        *,
        settings: BridgeSettings,
        registry: CollectorRegistry | None = None,
        caches: SharedCaches | None = None,
    ) -> None:
        workflows = Workflows(
            client,
            task_queue=settings.task_queue,
            stuck_after=settings.stuck_after,
            temporal_approvals=settings.temporal_approvals,
        )
        metrics = RunMetrics(registry or CollectorRegistry())
        self._caches = SharedCaches(hub) if caches is None else caches
        self._owns_caches = caches is None
        self._presence = Presence(workflows, self._known_workflows)
        self._scopes = [
            _ScopeBridge(hub, scope, workflows, metrics, self._caches, notify=self._presence.note)
            for scope in SCOPES.values()
        ]

    async def run(self) -> None:
        """Run the bridge until cancelled."""
        try:
            await asyncio.gather(*(scope.run() for scope in self._scopes), self._presence.run())
        finally:
            if self._owns_caches:
                await self._caches.close()

    async def ready(self) -> None:
        """Wait until all objects on the hub have been listed."""
        await asyncio.gather(*(scope.ready() for scope in self._scopes))

    def _known_workflows(self) -> list[KnownWorkflow]:
        return [each for scope in self._scopes for each in scope.known_workflows()]


class _ScopeBridge:
    """The bridge for the runs of one scope."""

    def __init__(
        self,
        hub: Hub,
        scope: Scope,
        workflows: Workflows,
        metrics: RunMetrics,
        caches: SharedCaches,
        *,
        notify: Callable[[], None],
    ) -> None:
        self._metrics = metrics
        self._run_cache = Cache(hub, scope.run, keep=kept)
        self._approval_cache = Cache(hub, scope.approval)
        self._placement_cache = Cache(hub, scope.placement)
        self._index = RunIndex(scope, self._run_cache)
        self._run_reconciler = RunReconciler(hub, self._index, workflows, notify=notify)
        self._runs = _controller(scope.run, self._run_reconciler, logged_about_run)
        self._approvals = _controller(
            scope.approval,
            ApprovalReconciler(
                hub, self._approval_cache, self._index, workflows, lost=self._start_again
            ),
            _logged_about_approval,
        )
        self._decision_cache = Cache(hub, scope.decision)
        self._decisions = _controller(
            scope.decision,
            DecisionReconciler(
                hub, self._decision_cache, self._index, workflows, lost=self._start_again
            ),
            _logged_about_decision,
        )
        self._report_cache = Cache(hub, scope.report, keep=rules_kept)
        self._dependencies = Dependencies(
            self._index,
            self._placement_cache,
            self._report_cache,
            workflows,
            caches,
            lost=self._start_again,
        )
        self._queues = Queues(self._index, workflows, lost=self._start_again)
        self._caches = (self._run_cache, self._approval_cache, self._placement_cache)

    async def run(self) -> None:
        # Nothing waits for these: a hub may lack their kinds, as KubeFleet's do at first.
        caches = (*self._caches, self._decision_cache, self._report_cache)
        await asyncio.gather(*(cache.run() for cache in caches), self._control())

    async def ready(self) -> None:
        await asyncio.gather(*(cache.ready() for cache in self._caches))

    def known_workflows(self) -> list[KnownWorkflow]:
        """Return the runs whose workflow was started, or is over."""
        found = self._run_reconciler.known_workflows()
        return [KnownWorkflow(key, ref, self._start_again, is_over) for key, ref, is_over in found]

    def _start_again(self, key: Key) -> None:
        """Start a run's workflow again, if it is lost."""
        self._run_reconciler.note_doubt(key)
        self._runs.queue.add(key)

    async def _control(self) -> None:
        """Reconcile once all kinds are listed, because approvals and dependencies need the runs."""
        await self.ready()
        self._note_unplanned()
        self._run_cache.subscribe(self._note_run)
        self._approval_cache.subscribe(lambda change: _queue(self._approvals, change))
        self._decision_cache.subscribe(lambda change: _queue(self._decisions, change))
        parts = (
            self._runs,
            self._approvals,
            self._decisions,
            self._dependencies,
            self._queues,
        )
        await asyncio.gather(*(part.run() for part in parts))

    def _note_unplanned(self) -> None:
        """Note active runs without a plan as damaged.

        Their status may have been wiped while no bridge was running. For new runs this has no
        effect.
        """
        for run in self._index.active():
            if not is_planned(run):
                self._run_reconciler.note_damage(key_of(run))

    def _note_run(self, change: Change) -> None:
        """Queue a changed run, and the approval requests that it waits for but that are gone."""
        run = self._index.update(change)
        if is_damaged(change) or (run and tampering.is_forged(run.status)):
            self._run_reconciler.note_damage(change.key)
        self._runs.queue.add(change.key)
        self._dependencies.note(change.key)
        self._queues.note(change.key, run)
        self._metrics.note(change.key, run)
        for request in open_requests(run) if run and is_live(run) else []:
            key = (change.key[0], request)
            if self._approval_cache.get(request, key[0]) is None:
                self._approvals.queue.add(key)


class _Reconciler(Protocol):
    async def reconcile(self, key: Key) -> None: ...


def _controller(
    kind: Kind, reconciler: _Reconciler, about: Callable[[Key], AbstractContextManager[None]]
) -> Controller:
    return Controller(
        f"bridge of {kind.plural}", reconciler.reconcile, workers=WORKERS, around=about
    )


def _logged_about_approval(key: Key) -> AbstractContextManager[None]:
    namespace, name = key
    return logged_about(namespace=namespace, approval=name)


def _logged_about_decision(key: Key) -> AbstractContextManager[None]:
    namespace, name = key
    return logged_about(namespace=namespace, decision=name)


def _queue(controller: Controller, change: Change) -> None:
    controller.queue.add(change.key)
