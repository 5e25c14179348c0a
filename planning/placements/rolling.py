"""How a placement that no run rolls out gets to its latest version, some clusters at a time.

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

_DONE: Final = (ConditionType.AVAILABLE, ConditionType.DIFF_REPORTED)
_STEPS: Final = (
    ConditionType.OVERRIDDEN,
    ConditionType.WORK_SYNCHRONIZED,
    ConditionType.APPLIED,
    *_DONE,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast a rollout may go."""

    max_unavailable: int | str
    """A number of clusters, or a percentage of them."""
    settling: timedelta
    """How long content counts as unavailable whose availability cannot be told."""

    @classmethod
    def of(cls, config: RollingUpdateConfig | None) -> "Limits":
        """Read a strategy; without one the defaults of the API hold."""
        config = config or RollingUpdateConfig()
        period = timedelta(seconds=config.unavailable_period_seconds)
        return cls(config.max_unavailable, period)

    def unavailable(self, clusters: int) -> int:
        """How many of so many clusters may be unavailable; a part of one is a whole one."""
        share = str(self.max_unavailable)
        if not share.endswith("%"):
            return int(share)
        return -(-int(share.removesuffix("%")) * clusters // 100)


@dataclass(frozen=True, slots=True)
class Write:
    """What a binding is to say and, after that, to have."""

    name: str
    condition: Condition
    """RolloutStarted; first, as a run does it (design D15)."""
    patch: list[Json]
    """JSON patch of the binding; empty where its content stays."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What can be done at one moment."""

    writes: tuple[Write, ...]
    deletions: tuple[str, ...]
    """Names of bindings whose cluster is not picked any more."""
    again: timedelta | None
    """When more may be possible without anything happening."""


class _Health(StrEnum):
    AVAILABLE = "available"
    DOWN = "down"
    """Nothing works there that an update could interrupt."""
    UNKNOWN = "unknown"


def plan(
    held: Iterable[Binding], desired: Mapping[str, Desired], *, limits: Limits, now: datetime
) -> Steps:
    """Bring bindings to what their clusters should have, as many as may be interrupted.

    `held` are all bindings of the placement, `desired` has an entry for each picked cluster.
    Clusters on which nothing is available are updated at once: it gets no worse there.
    """
    kept = [each for each in held if each.metadata.deletion_timestamp is None]
    health = {each.metadata.name: _health(each, limits, now) for each in kept}
    picked = [each for each in kept if each.spec.state != BindingState.UNSCHEDULED]
    floor = len(picked) - limits.unavailable(len(picked))
    spare = _Spare(list(health.values()).count(_Health.AVAILABLE) - floor)
    deletions = tuple(
        each.metadata.name
        for each in kept
        if each.spec.state == BindingState.UNSCHEDULED and spare.take(health[each.metadata.name])
    )
    writes = (
        _write(each, desired[each.spec.target_cluster], health[each.metadata.name], spare, now)
        for each in picked
    )
    return Steps(
        writes=tuple(each for each in writes if each),
        deletions=deletions,
        again=min(filter(None, (_settles_in(each, limits, now) for each in kept)), default=None),
    )


class _Spare:
    """How many available clusters may still be interrupted."""

    def __init__(self, clusters: int) -> None:
        self._left = clusters

    def take(self, health: _Health) -> bool:
        """Whether a cluster may be interrupted; then it counts."""
        if health != _Health.AVAILABLE:
            return health == _Health.DOWN
        self._left -= 1
        return self._left >= 0


def _write(
    binding: Binding, desired: Desired, health: _Health, spare: _Spare, now: datetime
) -> Write | None:
    patch = desired.patch(binding)
    generation = binding.metadata.generation
    if not patch:
        if bindings.announced(binding):
            return None
        return Write(binding.metadata.name, _started(generation, now), [])
    if spare.take(health):
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


def _health(binding: Binding, limits: Limits, now: datetime) -> _Health:
    if binding.spec.state == BindingState.SCHEDULED or not binding.spec.resource_snapshot_name:
        return _Health.DOWN
    said = _said(binding)
    if any(said[kind].status == "True" for kind in _DONE if kind in said):
        settled = _settles_in(binding, limits, now) is None
        return _Health.AVAILABLE if settled else _Health.UNKNOWN
    failed = any(said[kind].status == "False" for kind in _STEPS if kind in said)
    return _Health.DOWN if failed else _Health.UNKNOWN


def _settles_in(binding: Binding, limits: Limits, now: datetime) -> timedelta | None:
    """How long content whose availability cannot be told still counts as unavailable."""
    available = _said(binding).get(ConditionType.AVAILABLE)
    if available is None or available.reason != BindingReason.NOT_TRACKABLE:
        return None
    left = available.last_transition_time + limits.settling - now
    return left if left > timedelta(0) else None


def _said(binding: Binding) -> dict[str, Condition]:
    """What the binding says of its present content.

    Giving a binding up changes its generation and not its content.
    """
    anyway = binding.spec.state == BindingState.UNSCHEDULED
    generation = binding.metadata.generation
    return {
        each.type: each
        for each in binding.status.conditions
        if anyway or each.observed_generation == generation
    }
