"""Reading and changing the content of a Lease. Pure: no I/O, and the clock is a parameter."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Final

from hub.objects import Json

LONGEST: Final = 60
"""Maximum duration in seconds: a typo in a Lease must not lock everyone out for hours."""


def holder(lease: Json | None) -> str:
    """Return the holder of a Lease; empty if there is none."""
    held: str = _spec(lease).get("holderIdentity") or ""
    return held


def is_released(lease: Json) -> bool:
    """Return whether the last holder has released the Lease.

    A Lease whose holder was only removed by hand still has a duration: its holder may not know
    yet.
    """
    return not holder(lease) and not _spec(lease).get("leaseDurationSeconds")


def is_same_term(one: Json, other: Json) -> bool:
    """Return whether the same process held the Lease in both versions, without interruption."""
    first, second = _spec(one), _spec(other)
    return all(first.get(each) == second.get(each) for each in ("holderIdentity", "acquireTime"))


def taken(lease: Json, identity: str, *, lasting: timedelta, at: datetime) -> Json:
    """Return the Lease as taken by a new holder."""
    transitions = _spec(lease).get("leaseTransitions")
    begun: Json = {"holderIdentity": identity, "acquireTime": _micro(at)}
    if transitions is None:
        begun["leaseTransitions"] = 0
    elif holder(lease) != identity:
        begun["leaseTransitions"] = transitions + 1
    return _changed(lease, _times(lasting, at) | begun)


def renewed(lease: Json, *, lasting: timedelta, at: datetime) -> Json:
    """Return the Lease as renewed by its holder."""
    return _changed(lease, _times(lasting, at))


def released(lease: Json, *, at: datetime) -> Json:
    """Return the Lease as released, so that another process can take it at once."""
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
    """Format a time as in Leases: with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(slots=True)
class LeaseView:
    """A candidate's latest view of a Lease, and since when it has not changed.

    Only the candidate's own monotonic clock is used; the times in a Lease are for people. So the
    clocks of the processes need not agree.
    """

    lease: Json | None = None
    _since: float = -inf
    _lasting: float = field(default=0.0)

    def note(self, lease: Json | None, *, now: float, lasting: timedelta) -> None:
        """Record that the Lease changed or was deleted; `lasting` is the default duration."""
        said = _spec(lease if lease is not None else self.lease).get("leaseDurationSeconds")
        self._lasting = min(said or lasting.total_seconds(), LONGEST)
        self.lease, self._since = lease, now

    @property
    def free_at(self) -> float:
        """Time from which the Lease may be taken, even if its holder has not released it.

        This also holds for a deleted Lease: its holder may not know yet.
        """
        if self.lease is not None and is_released(self.lease):
            return self._since
        return self._since + self._lasting
