"""A mirror of one kind's objects that keeps itself in step with the API server."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from datetime import timedelta
from time import monotonic
from typing import Unpack

from api.kinds import Kind
from hub import backoff
from hub.client import Hub, Selection
from hub.errors import Gone, HubError, Unavailable
from hub.objects import Json, Key
from hub.store import Change, Keep, Store, whole
from hub.vitals import Pulse
from hub.watching import WatchEvent

logger = logging.getLogger(__name__)

SHORTEST_STREAM = timedelta(seconds=1)
"""A watch that is over sooner than this is a server or a proxy on its way down: pause first,
or the cache would spin."""

Subscriber = Callable[[Change], None]
Trouble = Callable[[HubError | None], None]
"""Told why a cache is out of step; None when it is in step again."""


class Cache:
    """Lists a kind, then follows its changes, for as long as `run` runs.

    Three loops inside each other: one stream of changes (`_follow`), list then stream after
    stream (`_mirror`), and that without end (`run`). Any number of lost or doubled events leads
    to the same objects, because the next list is compared with what is there.

    The objects handed out are the cache's own: read them, copy before changing. They come
    without `metadata.managedFields`, which is often the larger half of an object; an object that
    is written back without it keeps its owners.

    A cache of large objects keeps of each what `keep` leaves; subscribers see a new object once
    as it came.
    """

    def __init__(
        self, hub: Hub, kind: Kind, *, keep: Keep = whole, **selection: Unpack[Selection]
    ) -> None:
        self._hub = hub
        self._kind = kind
        self._selection = selection
        self._keep = keep
        self._page_size = hub.limits.page_size if keep is whole else hub.limits.large_page_size
        self._store = Store(keep)
        self._ready = asyncio.Event()
        self._subscribers: list[Subscriber] = []
        self._failures = 0
        self._complaint = ""
        self._trouble: Trouble = self.log
        self._pulse = Pulse()

    async def run(self) -> None:
        """Mirror until cancelled, whatever happens to the API server in between."""
        watches, plural = self._hub.watches, self._kind.plural
        with watches.followed(plural) as self._pulse:
            while True:
                watches.restarts[plural] += not await self._mirrored()
                self._failures += 1
                await asyncio.sleep(self._pause())

    async def _mirrored(self) -> bool:
        """Mirror until a list is due again, or something goes wrong; says whether nothing did."""
        try:
            await self._mirror()
        except Gone:
            logger.debug("%s: the watch fell behind, listing again", self._kind)
        except HubError as error:
            self._complain(error)
        except Exception:
            logger.exception("%s: the cache failed, listing again", self._kind)
        else:
            return True
        return False

    def _complain(self, error: HubError) -> None:
        """Warn, but not of the same thing with each try."""
        if str(error) != self._complaint:
            self._trouble(error)
        self._complaint = str(error)

    def _in_step(self) -> None:
        if self._complaint:
            self._trouble(None)
        self._complaint = ""
        self._pulse.beat()
        self._ready.set()

    def log(self, trouble: HubError | None) -> None:
        """Log why it is out of step: what is done with trouble unless `on_trouble` says else."""
        if trouble:
            logger.warning("%s: out of step with the API server: %s", self._kind, trouble)
        else:
            logger.info("%s: in step with the API server again", self._kind)

    def _pause(self) -> float:
        limits = self._hub.limits
        pause = backoff.delay(
            self._failures, first=limits.reconnect_first, most=limits.reconnect_most
        )
        return backoff.jittered(pause).total_seconds()

    async def _mirror(self) -> None:
        """List, then stream after stream, until a list is due again."""
        relisting, version = self._store.relisting(), ""
        pages = self._hub.pages(self._kind, page_size=self._page_size, **self._selection)
        async for page in pages:
            version = page.resource_version
            for change in relisting.take(map(_lighter, page.items)):
                self._publish(change)
        relist_at = monotonic() + self._hub.limits.relist_after.total_seconds()
        for change in relisting.end(version):
            self._publish(change)
        self._in_step()
        while monotonic() < relist_at:
            await self._follow()

    async def _follow(self) -> None:
        """One stream, until the server ends it."""
        stream = self._hub.watch(
            self._kind, resource_version=self._store.version, **self._selection
        )
        started = monotonic()
        async with aclosing(stream) as events:
            async for event in events:
                self._failures = 0
                self._pulse.beat()
                self._apply(event)
        if monotonic() - started < SHORTEST_STREAM.total_seconds():
            raise Unavailable("the watch ended as soon as it began")
        self._failures = 0
        self._pulse.beat()

    def _apply(self, event: WatchEvent) -> None:
        _lighter(event.object)
        change = self._store.apply(event)
        if change:
            self._publish(change)

    @property
    def version(self) -> int:
        """The resource version up to which it has come; -1 before the first list is in."""
        return int(self._store.version) if self._ready.is_set() else -1

    @property
    def trouble(self) -> str:
        """Why it is out of step with the API server now; empty when it is in step."""
        return self._complaint or ("" if self._ready.is_set() else "nothing is listed yet")

    async def ready(self) -> None:
        """Wait until the first list is in."""
        await self._ready.wait()

    def get(self, name: str, namespace: str = "") -> Json | None:
        """One object, as of the last event."""
        return self._store.objects.get((namespace, name))

    def items(self) -> list[Json]:
        """All objects, sorted by namespace and name."""
        return [self._store.objects[key] for key in self.keys()]

    def keys(self) -> list[Key]:
        """Keys of all objects, sorted."""
        return sorted(self._store.objects)

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call back on each change, at once for what is there; returns how to stop it.

        The callback runs between two events: it should only note what to do. What it raises is
        logged and does not stop the cache.
        """
        self._subscribers.append(callback)
        for key in self.keys():
            _notify(callback, Change(key, None, self._store.objects[key]))

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def kept(self, body: Json) -> Json:
        """What the cache would keep of an object, such as the answer to a write."""
        return self._keep(_lighter(body))

    def on_trouble(self, trouble: Trouble) -> None:
        """Tell of being out of step there, and no more in the log."""
        self._trouble = trouble

    def _publish(self, change: Change) -> None:
        for callback in tuple(self._subscribers):
            _notify(callback, change)


def _lighter(body: Json) -> Json:
    body["metadata"].pop("managedFields", None)
    return body


def _notify(callback: Subscriber, change: Change) -> None:
    try:
        callback(change)
    except Exception:
        logger.exception("a subscriber failed on %s", "/".join(change.key))
