"""Leader election: several processes compete for a Lease, and its holder leads.

The holder renews the Lease. The others watch it, and take it as soon as it is released, or when it
has not changed for its duration. A holder that could not renew in time stops before that.
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
from hub.lease import LeaseView
from hub.objects import Json
from hub.requests import Lane
from hub.store import Change
from hub.term import Term, now

logger = logging.getLogger(__name__)

Lead = Callable[[Term], Coroutine[Any, Any, None]]
"""Does the leader's work until cancelled; writes must go through a hub fenced by `Term.check`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasePace:
    """How long a Lease is valid, and how often it is renewed."""

    lasting: timedelta = timedelta(seconds=10)
    """Other processes may take the Lease when it has not changed for this long; this is about how
    long nothing leads after the leader is killed."""
    renew_every: timedelta = timedelta(seconds=2)
    """Each renewal is one write; several may fail before the Lease is lost."""
    hold: timedelta = timedelta(seconds=7)
    """The leader stops this long after the start of its last successful renewal. The rest of
    `lasting` is a margin for requests in flight and for clocks that run at different speeds."""
    attempt: timedelta = timedelta(seconds=2)
    """Time limit of one renewal; it is then retried over another connection."""
    retry: timedelta = timedelta(milliseconds=500)
    """Pause after a failed renewal."""
    give_back: timedelta = timedelta(seconds=2)
    """How long releasing the Lease may delay the end of a process."""


@dataclass(frozen=True, slots=True)
class Standing:
    """State of a process in an election."""

    leads: bool
    leader: str
    """Identity of the leader; empty if there is none."""


class _Lost(Exception):  # noqa: N818 - an expected outcome, not an error
    """This process no longer holds the Lease."""


class Election:
    """One process's part in the election for one Lease."""

    def __init__(
        self,
        hub: Hub,
        *,
        name: str,
        namespace: str,
        identity: str,
        pace: LeasePace | None = None,
        on_change: Callable[[Standing], None] = lambda _: None,
    ) -> None:
        """Prepare to take part in the election.

        Args:
            hub: where the Lease is.
            name: name of the Lease, and so of the election.
            namespace: namespace of the Lease.
            identity: identity of this process, unique among running processes.
            pace: durations of the Lease; the same for all candidates.
            on_change: called when this process starts or stops leading, or the leader changes.
        """
        # A lane of its own, so that other requests of this process cannot delay it.
        self._hub = hub = hub.on(Lane.LEASES)
        self._name, self._namespace, self._identity = name, namespace, identity
        self._pace = pace or LeasePace()
        self._announce = on_change
        self._told: Standing | None = None
        self._complaint = ""
        self._cache = Cache(hub, LEASE, namespace=namespace, fields=f"metadata.name={name}")
        self._sight = LeaseView()
        self._moved = asyncio.Event()
        self._is_own = True
        """Whether no other process has held the Lease since this one last tried to take it."""
        self._held: Json = {}
        """The Lease as last written by this process."""

    async def run(self, lead: Lead) -> None:
        """Lead whenever this process holds the Lease, until cancelled; then release the Lease.

        Exceptions of `lead` end it, too. Raises Forbidden or NotFound if Leases cannot be used.
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
        """Check that Leases can be used; retry temporary errors, and raise the others."""
        failures = 0
        while True:
            try:
                return await self._try_leases()
            except PASSING as error:
                failures += 1
                self._complain("cannot be read yet", error)
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
                f"the hub does not let this process use lease {name!r} in namespace {where!r}, "
                "which leader election needs: grant it get, list, watch, create and update "
                "of leases there (deploy/rbac/hub-side.yaml), or name a namespace where it has "
                f"these rights with FLEETGATE_LEASE_NAMESPACE ({error})"
            ) from error
        except NotFound as error:
            raise NotFound(
                f"the hub has no namespace {where!r} for lease {name!r}, which leader election "
                "needs: create it, or name another one with FLEETGATE_LEASE_NAMESPACE"
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
        """Wait until this process holds the Lease; return until when, unless it is renewed."""
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
        """Return the seconds until the Lease may be taken, if it does not change before that."""
        held = self._sight.lease
        who = lease.holder(held)
        # A deleted Lease is free at once only if no other process may still think that it leads.
        is_ours = self._is_own and (held is None or who == self._identity)
        if is_ours or is_gone(who):
            return 0.0
        return self._sight.free_at - now()

    async def _moves(self, *, within: float) -> bool:
        """Wait until the Lease changes; return whether it did so in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._moved.wait()
        moved = self._moved.is_set()
        self._moved.clear()
        return moved

    async def _take(self) -> float | None:
        """Take the Lease if it is unchanged; return until when it is held, or None."""
        self._moved.clear()
        body = lease.taken(
            self._sight.lease or self._blank(),
            self._identity,
            lasting=self._pace.lasting,
            at=datetime.now(UTC),
        )
        begun = now()
        # The write may succeed although its answer is lost: then the Lease is in our name.
        self._is_own = True
        try:
            async with asyncio.timeout(self._pace.attempt.total_seconds()):
                self._held = await self._write(body)
        except (Conflict, AlreadyExists):
            return None  # Another process was faster; the watch will show it.
        except (HubError, TimeoutError) as error:
            self._complain("could not be acquired, retrying", error)
            return None
        return begun + self._pace.hold.total_seconds()

    async def _write(self, body: Json) -> Json:
        if self._sight.lease is None:
            return await self._hub.create(LEASE, body, namespace=self._namespace)
        return await self._hub.replace(LEASE, body)

    def _stand_by(self) -> None:
        leader = lease.holder(self._sight.lease)
        self._say(Standing(leads=False, leader=leader))

    # -- as the leader ---------------------------------------------------------------------

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
            logger.warning("lost lease %s: its work has stopped in this process", self._name)
        finally:
            # Fence first: nothing may be written any more, even if some work is still ending.
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
                self._complain("could not be renewed, retrying", error)
                pause = self._pace.retry
            else:
                self._complaint = ""
                pause = self._pace.renew_every

    async def _until_renewal(self, pause: timedelta) -> None:
        """Wait for `pause`, or until the Lease no longer appears to be held by this process."""
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
        """Rewrite the Lease, even if someone has edited it in the meantime. Raises _Lost."""
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
            logger.info("another process has already taken lease %s", self._name)
        except (HubError, TimeoutError) as error:
            self._complain("could not be released, so other processes wait until it expires", error)
        else:
            logger.info("released lease %s", self._name)

    def _complain(self, what: str, error: Exception) -> None:
        """Log a problem, but only once while it stays the same."""
        complaint = f"{what}: {str(error) or 'no answer in time'}"
        if complaint != self._complaint:
            logger.warning("lease %s %s", self._name, complaint)
        self._complaint = complaint

    def _say(self, standing: Standing) -> None:
        if standing != self._told:
            self._told = standing
            self._announce(standing)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end; re-raise an exception that it raised before."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
