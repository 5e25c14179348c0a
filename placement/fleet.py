"""The member clusters as scheduling sees them, with a notification of each relevant change.

contract: placement 4 (eligibility), 11
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hub import Change, Controller, Json, Key
from placement.stores import Stores
from planning.placements.eligibility import Candidate, candidate, patience_left

Subscriber = Callable[[Candidate | None, Candidate | None], None]
"""Called with a member before and after a change; None if it is not in the fleet."""


class Fleet:
    """Follows the members, and the clock: a member that stops reporting causes no event."""

    def __init__(self, stores: Stores) -> None:
        self._members = stores.members
        self._parsed = stores.parsed_members
        self._known: dict[Key, Candidate] = {}
        self._subscribers: list[Subscriber] = []
        self.controller = Controller("silence of members", self._look_again)
        self._members.subscribe(self._on_member)

    def subscribe(self, callback: Subscriber) -> None:
        """Call `callback` on each change of a member that scheduling can see."""
        self._subscribers.append(callback)

    def members(self) -> list[Candidate]:
        """Return all members, sorted by name."""
        return [self._known[key] for key in sorted(self._known)]

    def _on_member(self, change: Change) -> None:
        left = self._take_in(change.key, change.new)
        if left is not None:
            self.controller.queue.add_after(change.key, left)

    async def _look_again(self, key: Key) -> timedelta | None:
        return self._take_in(key, self._members.get(key))

    def _take_in(self, key: Key, body: Json | None) -> timedelta | None:
        """Update a member; return how long until its silence changes its eligibility."""
        now = datetime.now(UTC)
        member = None if body is None else self._parsed.of(body)
        old = self._known.pop(key, None)
        new = None if member is None else candidate(member, now=now)
        if new is not None:
            self._known[key] = new
        if old != new:
            for callback in self._subscribers:
                callback(old, new)
        return None if member is None else patience_left(member, now=now)
