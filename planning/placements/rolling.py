"""Rolling updates: bringing a placement without runs to its latest snapshot, in batches.

contract: placement 2.3 (RollingUpdate), 6, 12 (RolloutStarted without suffix)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from api.base import Condition
from api.bindings import Binding, BindingState
from api.reasons import BindingMessage, BindingReason, ConditionType
from api.rollouts import RollingUpdateConfig
from planning import bindings, conditions
from planning.bindings import Desired

Json = dict[str, Any]


# -- how many clusters may change at once -------------------------------------------------


@dataclass(frozen=True, slots=True)
class RollingLimits:
    """Limits of a rolling update."""

    max_unavailable: int | str
    """A number of clusters, or a percentage of them."""
    max_surge: int | str
    """Likewise: how many clusters beyond the picked ones may have content while others lose it."""
    settling: timedelta
    """How long untrackable content counts as unavailable."""

    @classmethod
    def of(cls, config: RollingUpdateConfig | None) -> "RollingLimits":
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


class ContentHealth(StrEnum):
    """Health of the content on a cluster, which an update may interrupt."""

    AVAILABLE = "available"
    DOWN = "down"
    """Nothing is available there that an update could interrupt."""
    UNKNOWN = "unknown"


class Room:
    """Interruptions and additions that the limits still allow."""

    def __init__(self, limits: RollingLimits, *, picked: int, in_use: int, available: int) -> None:
        """Compute the allowance from numbers of clusters before any change."""
        self._interruptions = available - (picked - limits.unavailable(picked))
        self._additions = limits.in_use(picked) - in_use

    def interrupt(self, health: ContentHealth) -> bool:
        """Return whether a cluster may be interrupted, and count it."""
        if health != ContentHealth.AVAILABLE:
            return health == ContentHealth.DOWN
        self._interruptions -= 1
        return self._interruptions >= 0

    def add(self) -> bool:
        """Return whether one more cluster may get content, and count it."""
        self._additions -= 1
        return self._additions >= 0


# -- the update ---------------------------------------------------------------------------

_DONE: Final = (ConditionType.AVAILABLE, ConditionType.DIFF_REPORTED)
_STEPS: Final = (
    ConditionType.OVERRIDDEN,
    ConditionType.WORK_SYNCHRONIZED,
    ConditionType.APPLIED,
    *_DONE,
)


@dataclass(frozen=True, slots=True)
class Write:
    """A condition to set on a binding and, after that, a change of its content."""

    name: str
    condition: Condition
    """RolloutStarted; written first, as by a run (decision record 0039)."""
    patch: list[Json]
    """JSON patch of the binding; empty if its content stays."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Writes and deletions that are possible now."""

    writes: tuple[Write, ...]
    deletions: tuple[str, ...]
    """Names of bindings whose cluster is no longer picked."""
    again: timedelta | None
    """After which time more may be possible without any event; None if never."""


def plan(
    held: Iterable[Binding], desired: Mapping[str, Desired], *, limits: RollingLimits, now: datetime
) -> Steps:
    """Update bindings to the desired content, as many as the limits allow.

    `held` are all bindings of the placement; `desired` has an entry for each picked cluster.
    Clusters on which nothing is available are updated at once, since nothing can be interrupted
    there. New clusters get content as long as not too many clusters have it, including those that
    will lose it.
    """
    kept = [each for each in held if each.metadata.deletion_timestamp is None]
    health = {each.metadata.name: _health(each, limits, now) for each in kept}
    picked = [each for each in kept if each.spec.state != BindingState.UNSCHEDULED]
    room = Room(
        limits,
        picked=len(picked),
        in_use=sum(not _is_new(each) for each in kept),
        available=list(health.values()).count(ContentHealth.AVAILABLE),
    )
    deletions = tuple(
        each.metadata.name
        for each in kept
        if each.spec.state == BindingState.UNSCHEDULED
        and room.interrupt(health[each.metadata.name])
    )
    writes = (
        _write(each, desired[each.spec.target_cluster], health[each.metadata.name], room, now)
        for each in picked
    )
    return Steps(
        writes=tuple(each for each in writes if each),
        deletions=deletions,
        again=min(filter(None, (_settles_in(each, limits, now) for each in kept)), default=None),
    )


def _is_new(binding: Binding) -> bool:
    return binding.spec.state == BindingState.SCHEDULED or not binding.spec.resource_snapshot_name


def _write(
    binding: Binding, desired: Desired, health: ContentHealth, room: Room, now: datetime
) -> Write | None:
    patch = desired.patch(binding)
    generation = binding.metadata.generation
    if not patch:
        if bindings.announced(binding):
            return None
        return Write(binding.metadata.name, _started(generation, now), [])
    if room.add() if _is_new(binding) else room.interrupt(health):
        return Write(binding.metadata.name, _started(generation + 1, now), patch)
    blocked = _blocked(generation, now)
    found = conditions.find(binding.status.conditions, ConditionType.ROLLOUT_STARTED)
    if found and (found.status, found.observed_generation) == ("False", generation):
        return None
    return Write(binding.metadata.name, blocked, [])


def _started(generation: int, now: datetime) -> Condition:
    kind, reason = ConditionType.ROLLOUT_STARTED, BindingReason.ROLLOUT_STARTED
    return conditions.make(
        kind, "True", reason, BindingMessage.ROLLOUT_STARTED, generation=generation, now=now
    )


def _blocked(generation: int, now: datetime) -> Condition:
    kind, reason = ConditionType.ROLLOUT_STARTED, BindingReason.NOT_STARTED
    message = BindingMessage.BLOCKED
    return conditions.make(kind, "False", reason, message, generation=generation, now=now)


def _health(binding: Binding, limits: RollingLimits, now: datetime) -> ContentHealth:
    if _is_new(binding):
        return ContentHealth.DOWN
    said = _said(binding)
    if any(said[kind].status == "True" for kind in _DONE if kind in said):
        settled = _settles_in(binding, limits, now) is None
        return ContentHealth.AVAILABLE if settled else ContentHealth.UNKNOWN
    failed = any(said[kind].status == "False" for kind in _STEPS if kind in said)
    return ContentHealth.DOWN if failed else ContentHealth.UNKNOWN


def _settles_in(binding: Binding, limits: RollingLimits, now: datetime) -> timedelta | None:
    """Return how much longer untrackable content counts as unavailable; None if no longer."""
    available = _said(binding).get(ConditionType.AVAILABLE)
    if available is None or available.reason != BindingReason.NOT_TRACKABLE:
        return None
    left = available.last_transition_time + limits.settling - now
    return left if left > timedelta(0) else None


def _said(binding: Binding) -> dict[str, Condition]:
    """Return the binding's conditions about its current content.

    Unscheduling a binding changes its generation but not its content.
    """
    anyway = binding.spec.state == BindingState.UNSCHEDULED
    generation = binding.metadata.generation
    return {
        each.type: each
        for each in binding.status.conditions
        if anyway or each.observed_generation == generation
    }
