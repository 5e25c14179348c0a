"""How many clusters of a rolling update may be changed at once.

contract: placement 2.3 (RollingUpdate)
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from api.rollouts import RollingUpdateConfig


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast a rollout may go."""

    max_unavailable: int | str
    """A number of clusters, or a percentage of them."""
    max_surge: int | str
    """Likewise: how many more than those picked may have content while others give it up."""
    settling: timedelta
    """How long content counts as unavailable whose availability cannot be told."""

    @classmethod
    def of(cls, config: RollingUpdateConfig | None) -> "Limits":
        """Read a strategy; without one the defaults of the API hold."""
        config = config or RollingUpdateConfig()
        period = timedelta(seconds=config.unavailable_period_seconds)
        return cls(config.max_unavailable, config.max_surge, period)

    def unavailable(self, clusters: int) -> int:
        """How many of so many clusters may be unavailable; a part of one is a whole one."""
        return _share(self.max_unavailable, clusters)

    def in_use(self, clusters: int) -> int:
        """How many clusters may have content when so many are picked."""
        return clusters + _share(self.max_surge, clusters)


def _share(of: int | str, clusters: int) -> int:
    share = str(of)
    if not share.endswith("%"):
        return int(share)
    return -(-int(share.removesuffix("%")) * clusters // 100)


class Health(StrEnum):
    """Whether an update of a cluster would interrupt something."""

    AVAILABLE = "available"
    DOWN = "down"
    """Nothing works there that an update could interrupt."""
    UNKNOWN = "unknown"


class Room:
    """What may still be done at once."""

    def __init__(self, limits: Limits, *, picked: int, in_use: int, available: int) -> None:
        """Take numbers of clusters before anything is done."""
        self._interruptions = available - (picked - limits.unavailable(picked))
        self._additions = limits.in_use(picked) - in_use

    def interrupt(self, health: Health) -> bool:
        """Return whether a cluster may be interrupted; then it counts."""
        if health != Health.AVAILABLE:
            return health == Health.DOWN
        self._interruptions -= 1
        return self._interruptions >= 0

    def add(self) -> bool:
        """Return whether one more cluster may get content; then it counts."""
        self._additions -= 1
        return self._additions >= 0
