"""Limits on how many clusters a rolling update may change at once.

contract: placement 2.3 (RollingUpdate)
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from api.rollouts import RollingUpdateConfig


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a rolling update."""

    max_unavailable: int | str
    """A number of clusters, or a percentage of them."""
    max_surge: int | str
    """Likewise: how many clusters beyond the picked ones may have content while others lose it."""
    settling: timedelta
    """How long untrackable content counts as unavailable."""

    @classmethod
    def of(cls, config: RollingUpdateConfig | None) -> "Limits":
        """Read a strategy; without one, the defaults of the API apply."""
        config = config or RollingUpdateConfig()
        period = timedelta(seconds=config.unavailable_period_seconds)
        return cls(config.max_unavailable, config.max_surge, period)

    def unavailable(self, clusters: int) -> int:
        """Return how many of so many clusters may be unavailable, rounded up."""
        return _share(self.max_unavailable, clusters)

    def in_use(self, clusters: int) -> int:
        """Return how many clusters may have content when so many are picked."""
        return clusters + _share(self.max_surge, clusters)


def _share(of: int | str, clusters: int) -> int:
    share = str(of)
    if not share.endswith("%"):
        return int(share)
    return -(-int(share.removesuffix("%")) * clusters // 100)


class Health(StrEnum):
    """Health of the content on a cluster, which an update may interrupt."""

    AVAILABLE = "available"
    DOWN = "down"
    """Nothing is available there that an update could interrupt."""
    UNKNOWN = "unknown"


class Room:
    """Interruptions and additions that the limits still allow."""

    def __init__(self, limits: Limits, *, picked: int, in_use: int, available: int) -> None:
        """Compute the allowance from numbers of clusters before any change."""
        self._interruptions = available - (picked - limits.unavailable(picked))
        self._additions = limits.in_use(picked) - in_use

    def interrupt(self, health: Health) -> bool:
        """Return whether a cluster may be interrupted, and count it."""
        if health != Health.AVAILABLE:
            return health == Health.DOWN
        self._interruptions -= 1
        return self._interruptions >= 0

    def add(self) -> bool:
        """Return whether one more cluster may get content, and count it."""
        self._additions -= 1
        return self._additions >= 0
