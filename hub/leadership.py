"""One of several processes leads: each takes part in the election for a Lease.

Whoever holds the Lease renews it. The others watch it, and take it as soon as it is given back,
or when it has not moved for as long as it lasts. Who could not renew in time stops before that.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from api.kinds import LEASE
from hub import backoff, lease
from hub.cache import Cache
from hub.client import Hub
from hub.errors import PASSING, AlreadyExists, Conflict, Forbidden, HubError, NotFound
from hub.identity import is_gone
from hub.lease import Sight
from hub.objects import Json
from hub.requests import Lane
from hub.store import Change
from hub.term import Term, now

logger = logging.getLogger(__name__)

Lead = Callable[[Term], Coroutine[Any, Any, None]]
"""Does the work until cancelled; writes go through a hub that is fenced by `Term.check`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a Lease lasts, and how often it is renewed."""

    lasting: timedelta = timedelta(seconds=10)
    """Others may take the Lease when it has not moved for this long: about how long a process
    that was killed is missed."""
    renew_every: timedelta = timedelta(seconds=2)
    """A write each; several may fail before it matters."""
    hold: timedelta = timedelta(seconds=7)
    """Whoever leads stops this long after it began the last renewal that worked. The rest of
    `lasting` is for requests that are under way, and for clocks that do not run equally fast."""
    attempt: timedelta = timedelta(seconds=2)
    """Until a renewal without an answer is tried again, over another connection."""
    retry: timedelta = timedelta(milliseconds=500)
    """Pause after a renewal that failed."""
    give_back: timedelta = timedelta(seconds=2)
    """How long giving the Lease back may hold up the end of a process."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a process is in an election."""

    leads: bool
    leader: str
    """Identity of whoever leads; empty when nobody does."""


class _Lost(Exception):  # noqa: N818 - a turn of events, not an error
    """Somebody else holds the Lease, or nobody does."""


class Election:
    """One process's part in the election for one Lease."""

    def __init__(
        self,
        hub: Hub,
        *,
        name: str,
        namespace: str,
        identity: str,
        pace: Pace | None = None,
        tell: Callable[[Standing], None] = lambda _: None,
    ) -> None:
        """Prepare to take part.

        Args:
            hub: where the Lease is.
            name: of the Lease: what the election is about.
            namespace: of the Lease.
            identity: of this process; no two that run at the same time may share it.
            pace: how long the Lease lasts and so on; the same for all who take part.
            tell: called whenever this process begins or ceases to lead, or follows another one.
        """
        # Whatever else this process asks of the hub, or waits for there.
        self._hub = hub = hub.on(Lane.LEASES)
        self._name, self._namespace, self._identity = name, namespace, identity
        self._pace = pace or Pace()
        self._tell = tell
        self._told: Standing | None = None
        self._complaint = ""
        self._cache = Cache(hub, LEASE, namespace=namespace, fields=f"metadata.name={name}")
        self._sight = Sight()
        self._moved = asyncio.Event()
        self._is_own = True
        """Whether a Lease in this process's name is its own, or its predecessor's."""
        self._held: Json = {}
        """The Lease as this process wrote it last."""

    async def run(self, lead: Lead) -> None:
        """Lead whenever it is this process's turn, until cancelled; gives the Lease back then.

        What `lead` raises ends it, too. Raises Forbidden or NotFound when Leases cannot be used.
        """
        await self._require_leases()
        unsubscribe = self._cache.subscribe(self._on_change)
        watching = asyncio.create_task(self._cache.run(), name=f"watch of lease {self._name}")
        try:
            await self._cache.ready()
            while True:
                until = await self._turn()
                await self._serve(lead, until)
        finally:
            unsubscribe()
            await _ended(watching)

    # -- as a candidate --------------------------------------------------------------------

    async def _require_leases(self) -> None:
        """Find out what no waiting would mend, and wait for the hub otherwise."""
        failures = 0
        while True:
            try:
                return await self._try_leases()
            except PASSING as error:
                failures += 1
                self._complain("cannot be looked at yet", error)
            limits = self._hub.limits
            pause = backoff.delay(
                failures, first=limits.reconnect_first, most=limits.reconnect_most
            )
            await asyncio.sleep(pause.total_seconds())

    async def _try_leases(self) -> None:
        where, name = self._namespace, self._name
        try:
            await self._hub.list(LEASE, namespace=where, fields=f"metadata.name={name}")
            with suppress(AlreadyExists):
                await self._hub.create(LEASE, self._blank(), namespace=where, dry_run=True)
        except Forbidden as error:
            raise Forbidden(
                f"the hub does not let this process use lease {name!r} in namespace {where!r}, by "
                "which it takes turns with others: grant it get, list, watch, create and update "
                "of leases there (deploy/rbac/hub-side.yaml), or name a namespace where it has "
                f"these rights with FLEETGATE_LEASE_NAMESPACE ({error})"
            ) from error
        except NotFound as error:
            raise NotFound(
                f"the hub has no namespace {where!r} for lease {name!r}, by which this process "
                "takes turns with others: create it, or name another one with "
                "FLEETGATE_LEASE_NAMESPACE"
            ) from error

    def _blank(self) -> Json:
        return {"metadata": {"name": self._name, "namespace": self._namespace}}

    def _on_change(self, change: Change) -> None:
        self._sight.note(change.new, now=now(), lasting=self._pace.lasting)
        if self._is_foreign(change.new):
            self._is_own = False
        self._moved.set()

    def _is_foreign(self, body: Json | None) -> bool:
        return lease.holder(body) not in ("", self._identity)

    async def _turn(self) -> float:
        """Wait until the Lease is this process's; returns until when, unless it is renewed."""
        while True:
            wait = self._wait()
            if wait <= 0:
                until = await self._take()
                if until is not None:
                    return until
                wait = self._pace.renew_every.total_seconds()
            else:
                self._stand_by()
            await self._moves(within=wait)

    def _wait(self) -> float:
        """Seconds until the Lease may be taken, if it does not move before."""
        held = self._sight.lease
        who = lease.holder(held)
        # Who deleted a Lease that this process held, or never saw, did not take it from others.
        is_ours = self._is_own and (held is None or who == self._identity)
        if is_ours or is_gone(who):
            return 0.0
        return self._sight.free_at - now()

    async def _moves(self, *, within: float) -> bool:
        """Wait until the Lease moves; says whether it did so in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._moved.wait()
        moved = self._moved.is_set()
        self._moved.clear()
        return moved

    async def _take(self) -> float | None:
        """Take the Lease if it still is as it was seen; returns until when it is held."""
        self._moved.clear()
        body = lease.taken(
            self._sight.lease or self._blank(),
            self._identity,
            lasting=self._pace.lasting,
            at=datetime.now(UTC),
        )
        begun = now()
        # The write may work although its answer never arrives: then the Lease is in our name.
        self._is_own = True
        try:
            async with asyncio.timeout(self._pace.attempt.total_seconds()):
                self._held = await self._write(body)
        except (Conflict, AlreadyExists):
            return None  # Somebody was quicker, which the watch tells.
        except (HubError, TimeoutError) as error:
            self._complain("cannot be taken, trying again", error)
            return None
        return begun + self._pace.hold.total_seconds()

    async def _write(self, body: Json) -> Json:
        if self._sight.lease is None:
            return await self._hub.create(LEASE, body, namespace=self._namespace)
        return await self._hub.replace(LEASE, body)

    def _stand_by(self) -> None:
        leader = lease.holder(self._sight.lease)
        self._say(Standing(leads=False, leader=leader))

    # -- as the one that leads -------------------------------------------------------------

    async def _serve(self, lead: Lead, until: float) -> None:
        """Lead until cancelled, or until the Lease is lost."""
        self._say(Standing(leads=True, leader=self._identity))
        term = Term(until=until, stop=lambda: leading.cancel())
        leading = asyncio.create_task(lead(term), name=f"work of lease {self._name}")
        keeping = asyncio.create_task(self._keep(term), name=f"renewal of lease {self._name}")
        try:
            await leading
        except asyncio.CancelledError:
            if not term.is_lost or _is_cancelled():
                raise
            logger.warning("lease %s is lost: what it is for has stopped here", self._name)
        finally:
            # First of all nothing may be written, whatever of the work is still about to end.
            term.end()
            await _ended(keeping)
            if not term.is_lost:
                await self._give_back()
            self._say(Standing(leads=False, leader=""))

    async def _keep(self, term: Term) -> None:
        """Renew the Lease until the term is over."""
        pause = self._pace.renew_every
        while not term.is_over:
            await self._until_renewal(pause)
            try:
                await self._renew(term)
            except _Lost:
                term.lose()
            except (HubError, TimeoutError) as error:
                self._complain("was not renewed, trying again", error)
                pause = self._pace.retry
            else:
                self._complaint = ""
                pause = self._pace.renew_every

    async def _until_renewal(self, pause: timedelta) -> None:
        """Wait a while, or until the Lease does not look as if this process held it."""
        end = now() + pause.total_seconds()
        while await self._moves(within=max(end - now(), 0.0)):
            seen = self._sight.lease
            if seen is None or not lease.is_same_term(seen, self._held):
                return

    async def _renew(self, term: Term) -> None:
        begun = now()
        async with asyncio.timeout(self._pace.attempt.total_seconds()):
            await self._rewrite(
                lambda held: lease.renewed(held, lasting=self._pace.lasting, at=datetime.now(UTC))
            )
        term.extend(begun + self._pace.hold.total_seconds())

    async def _rewrite(self, change: Callable[[Json], Json]) -> None:
        """Write the Lease anew, also when somebody has edited it meanwhile. Raises _Lost."""
        try:
            self._held = await self._hub.replace(LEASE, change(self._held))
        except Conflict:
            found = await self._hub.find(LEASE, self._name, namespace=self._namespace)
            if found is None or not lease.is_same_term(found, self._held):
                raise _Lost from None
            self._held = await self._hub.replace(LEASE, change(found))
        except NotFound:
            raise _Lost from None

    async def _give_back(self) -> None:
        try:
            async with asyncio.timeout(self._pace.give_back.total_seconds()):
                await self._rewrite(lambda held: lease.released(held, at=datetime.now(UTC)))
        except _Lost:
            logger.info("lease %s was given to another process meanwhile", self._name)
        except (HubError, TimeoutError) as error:
            self._complain("could not be given back, so others wait until it runs out", error)
        else:
            logger.info("lease %s is given back", self._name)

    def _complain(self, what: str, error: Exception) -> None:
        """Warn, but not of the same thing with each try."""
        complaint = f"{what}: {str(error) or 'no answer in time'}"
        if complaint != self._complaint:
            logger.warning("lease %s %s", self._name, complaint)
        self._complaint = complaint

    def _say(self, standing: Standing) -> None:
        if standing != self._told:
            self._told = standing
            self._tell(standing)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end; what it raised before is raised here."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
