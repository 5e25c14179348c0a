"""What a Lease says, and how it is written. Pure: no I/O, and the clock is a parameter."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Final

from hub.objects import Json

LONGEST: Final = 60
"""Seconds. What a Lease says of itself is believed up to here: a slip of a hand must not keep
everyone out for hours."""


def holder(lease: Json | None) -> str:
    """Who holds a Lease; empty when nobody does."""
    held: str = _spec(lease).get("holderIdentity") or ""
    return held


def is_released(lease: Json) -> bool:
    """Whether its last holder has given it back.

    A Lease that was only emptied by hand still says how long it lasts: its holder may not know.
    """
    return not holder(lease) and not _spec(lease).get("leaseDurationSeconds")


def is_same_term(one: Json, other: Json) -> bool:
    """Whether two versions of a Lease are of one holder who has had it all the time."""
    first, second = _spec(one), _spec(other)
    return all(first.get(each) == second.get(each) for each in ("holderIdentity", "acquireTime"))


def taken(lease: Json, identity: str, *, lasting: timedelta, at: datetime) -> Json:
    """Make it the Lease of a new holder."""
    transitions = _spec(lease).get("leaseTransitions")
    begun: Json = {"holderIdentity": identity, "acquireTime": _micro(at)}
    if transitions is None:
        begun["leaseTransitions"] = 0
    elif holder(lease) != identity:
        begun["leaseTransitions"] = transitions + 1
    return _changed(lease, _times(lasting, at) | begun)


def renewed(lease: Json, *, lasting: timedelta, at: datetime) -> Json:
    """Show that its holder is there."""
    return _changed(lease, _times(lasting, at))


def released(lease: Json, *, at: datetime) -> Json:
    """Give it back, for anyone to take at once."""
    return _changed(
        lease, {"holderIdentity": "", "leaseDurationSeconds": None, "renewTime": _micro(at)}
    )


def _changed(lease: Json, changes: Json) -> Json:
    return lease | {"spec": _spec(lease) | changes}


def _times(lasting: timedelta, at: datetime) -> Json:
    return {"leaseDurationSeconds": round(lasting.total_seconds()), "renewTime": _micro(at)}


def _spec(lease: Json | None) -> Json:
    return (lease or {}).get("spec") or {}


def _micro(moment: datetime) -> str:
    """Write a moment as Leases have it: with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(slots=True)
class Sight:
    """What a candidate has seen of a Lease, and since when it has not moved.

    Only the candidate's own clock counts, which must not jump; the times in a Lease are for
    people. So no clocks need to agree.
    """

    lease: Json | None = None
    _since: float = -inf
    _lasting: float = field(default=0.0)

    def note(self, lease: Json | None, *, now: float, lasting: timedelta) -> None:
        """The Lease has changed, or is gone; `lasting` counts when it does not say for how long."""
        said = _spec(lease if lease is not None else self.lease).get("leaseDurationSeconds")
        self._lasting = min(said or lasting.total_seconds(), LONGEST)
        self.lease, self._since = lease, now

    @property
    def free_at(self) -> float:
        """From when on the Lease may be taken although its holder has not given it back.

        One that was deleted is no exception: its holder may not know yet.
        """
        if self.lease is not None and is_released(self.lease):
            return self._since
        return self._since + self._lasting
