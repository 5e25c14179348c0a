"""A mirror of one kind's objects that keeps itself in sync with the API server."""

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
"""A watch that ends sooner than this means that a server or proxy is shutting down: pause first,
or the cache would reconnect in a tight loop."""

Subscriber = Callable[[Change], None]
Trouble = Callable[[HubError | None], None]
"""Called with the reason why a cache is out of sync; with None when it is in sync again."""


class Cache:
    """Lists a kind, then follows its changes, for as long as `run` runs.

    Three nested loops: one stream of changes (`_follow`), a list and then stream after stream
    (`_mirror`), and that without end (`run`). Lost or repeated events do no lasting harm, because
    the next list is compared with the objects in the cache.

    The objects returned are the cache's own: read them, and copy them before changing them. They
    have no `metadata.managedFields`, which is often the larger half of an object; an object that
    is written back without it keeps its field owners.

    A cache of large objects keeps only the part of each that `keep` returns; subscribers see each
    new object once in full.
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
        """Mirror until cancelled, whatever happens to the API server."""
        watches, plural = self._hub.watches, self._kind.plural
        with watches.followed(plural) as self._pulse:
            while True:
                watches.restarts[plural] += not await self._mirrored()
                self._failures += 1
                await asyncio.sleep(self._pause())

    async def _mirrored(self) -> bool:
        """Mirror until the next list is due; return False if something went wrong before that."""
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
        """Report a problem, but only once while it stays the same."""
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
        """Log why the cache is out of sync; the default unless `on_trouble` is used."""
        if trouble:
            logger.warning("%s: out of sync with the API server: %s", self._kind, trouble)
        else:
            logger.info("%s: in sync with the API server again", self._kind)

    def _pause(self) -> float:
        limits = self._hub.limits
        pause = backoff.delay(
            self._failures, first=limits.reconnect_first, most=limits.reconnect_most
        )
        return backoff.jittered(pause).total_seconds()

    async def _mirror(self) -> None:
        """List, then follow stream after stream, until the next list is due."""
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
        """Follow one stream until the server ends it."""
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
        """The resource version that the cache has reached; -1 before the first list is complete."""
        return int(self._store.version) if self._ready.is_set() else -1

    @property
    def trouble(self) -> str:
        """Why the cache is out of sync with the API server; empty when it is in sync."""
        return self._complaint or ("" if self._ready.is_set() else "the first list is incomplete")

    async def ready(self) -> None:
        """Wait until the first list is complete."""
        await self._ready.wait()

    def get(self, name: str, namespace: str = "") -> Json | None:
        """Return one object as of the last event, or None if it does not exist."""
        return self._store.objects.get((namespace, name))

    def items(self) -> list[Json]:
        """Return all objects, sorted by namespace and name."""
        return [self._store.objects[key] for key in self.keys()]

    def keys(self) -> list[Key]:
        """Return the keys of all objects, sorted."""
        return sorted(self._store.objects)

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` on each change, and now for each object; return how to unsubscribe.

        The callback runs between two events, so it should only note what to do. Its exceptions are
        logged and do not stop the cache.
        """
        self._subscribers.append(callback)
        for key in self.keys():
            _notify(callback, Change(key, None, self._store.objects[key]))

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def kept(self, body: Json) -> Json:
        """Return what the cache would keep of an object, such as the answer to a write."""
        return self._keep(_lighter(body))

    def on_trouble(self, trouble: Trouble) -> None:
        """Report being out of sync to `trouble` instead of the log."""
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
