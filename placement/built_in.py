"""Wires the parts of the built-in placement together."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from prometheus_client import CollectorRegistry

from api.kinds import SCOPES, ScopeName
from hub import Change, Controller, Hub, Json, Key
from placement.content_watches import ContentWatches, Subject
from placement.contents import Contents
from placement.distribution import Distributor
from placement.fleet import Fleet
from placement.members import Members
from placement.metrics import MemberSilence, PlacementMetrics
from placement.mirroring import Mirror
from placement.override_snapshots import OverrideSnapshots
from placement.pruning import Pruner
from placement.reporter import Reporter
from placement.rollout import Roller
from placement.scheduler import Scheduler
from placement.settings import PlacementSettings
from placement.status_copies import StatusCopies
from placement.stores import ScopeStores, Stores

logger = logging.getLogger(__name__)


class BuiltInPlacement:
    """The built-in placement of one hub: all stores, watches and controllers."""

    def __init__(
        self,
        hub: Hub,
        *,
        settings: PlacementSettings | None = None,
        registry: CollectorRegistry | None = None,
    ) -> None:
        settings = settings or PlacementSettings()
        registry = registry or CollectorRegistry()
        self._metrics = PlacementMetrics(registry)
        self._hub = hub
        self._stores = Stores(hub)
        registry.register(MemberSilence(self._stores.all_members))
        self._fleet = Fleet(self._stores)
        self._watches = ContentWatches(hub, self._on_content)
        self._copies = StatusCopies(hub, self._stores.status_copies)
        self._scopes = {name: self._scope_room(name, settings) for name in SCOPES}
        self._members = Members(hub, self._stores, settings=settings)
        self._overrides = [
            OverrideSnapshots(hub, self._stores, own)
            for own in (self._stores.cluster_overrides, self._stores.resource_overrides)
        ]
        self._definitions = Controller("definitions", self._learn)
        self._stores.definitions.subscribe(self._on_definition)
        self._has_seen_all = False

    def _scope_room(self, name: ScopeName, settings: PlacementSettings) -> "_ScopeRoom":
        copies = self._copies if name == ScopeName.CLUSTER else None
        own = self._stores.scopes[name]
        reporter = partial(Reporter, metrics=self._metrics, copies=copies)
        return _ScopeRoom(
            self._hub, self._stores, own, self._fleet, self._watches, settings, reporter
        )

    async def run(self) -> None:
        """Run until cancelled."""
        stores = [store.run() for store in self._stores.all()]
        try:
            await asyncio.gather(*stores, self._control())
        finally:
            await self._watches.close()
            for scope in self._scopes.values():
                await scope.pruner.close()

    async def ready(self) -> None:
        """Wait until all stores have completed their first list."""
        await asyncio.gather(*(store.ready() for store in self._stores.all()))

    async def _control(self) -> None:
        # A decision before that would treat objects that are not listed yet as missing.
        await self.ready()
        self._has_seen_all = True
        logger.info("the built-in placement is in sync with the hub")
        controllers = [
            self._members.controller,
            self._fleet.controller,
            self._definitions,
            self._copies.controller,
        ]
        controllers += [each.controller for each in self._overrides]
        controllers += [each for scope in self._scopes.values() for each in scope.controllers]
        await asyncio.gather(*(each.run() for each in controllers))

    def _on_content(self, subject: Subject) -> None:
        scope, key = subject
        self._scopes[scope].contents.look_soon(key)

    def _on_definition(self, change: Change) -> None:
        if self._has_seen_all and _served(change.old) != _served(change.new):
            self._definitions.queue.add(change.key)

    async def _learn(self, key: Key) -> None:
        """Select again, because the kinds that the hub serves have changed."""
        body = self._stores.definitions.get(key)
        if body is not None:
            spec = body["spec"]
            for version in spec["versions"]:
                # Asking for an unknown kind makes the hub's client refresh its discovery.
                await self._hub.kind_for(
                    f"{spec['group']}/{version['name']}", spec["names"]["kind"]
                )
        for scope in self._scopes.values():
            scope.contents.look_at_all()


class _ScopeRoom:
    """The controllers of one scope, and how they notify each other."""

    def __init__(
        self,
        hub: Hub,
        stores: Stores,
        own: ScopeStores,
        fleet: Fleet,
        watches: ContentWatches,
        settings: PlacementSettings,
        reporter: Callable[..., Reporter],
    ) -> None:
        self.contents = Contents(hub, own, watches, settings=settings, judged=self._on_verdict)
        self._scheduler = Scheduler(
            hub, own, fleet, settings=settings, selectable=self._is_selectable
        )
        self._roller = Roller(hub, stores, own, settings=settings)
        self._distributor = Distributor(hub, stores, own, settings=settings)
        self._mirror = Mirror(hub, stores, own)
        self.pruner = Pruner(hub, own, settings=settings)
        self._reporter = reporter(hub, own, settings=settings, verdict=self.contents.verdict)

    @property
    def controllers(self) -> list[Controller]:
        """All controllers, which have to run."""
        parts = (
            self.contents,
            self._scheduler,
            self._roller,
            self._distributor,
            self._mirror,
            self.pruner,
            self._reporter,
        )
        return [part.controller for part in parts]

    def _on_verdict(self, key: Key) -> None:
        self._scheduler.controller.queue.add(key)
        self._reporter.look_soon(key)

    def _is_selectable(self, placement: Json) -> bool:
        verdict = self.contents.verdict(placement)
        return verdict is not None and not verdict.error


def _served(definition: Json | None) -> tuple[object, ...] | None:
    """Return the versions of a kind, and whether each is served; None until it is established."""
    if definition is None:
        return None
    conditions = definition.get("status", {}).get("conditions") or []
    if not any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
        return None
    return tuple((each["name"], each["served"]) for each in definition["spec"]["versions"])
