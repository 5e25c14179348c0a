"""What a placement says of one cluster.

contract: placement 7.2
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from api.applying import ApplyType
from api.base import Condition
from api.bindings import Binding
from api.placements import ClusterPlacementStatus, Placement
from api.policies import ClusterDecision
from api.reasons import PENDING, ConditionType, PlacementReason
from planning import conditions

Chain = tuple[ConditionType, ...]
"""Conditions in the order in which they come true."""

_BEGINNING: Final = (
    ConditionType.ROLLOUT_STARTED,
    ConditionType.OVERRIDDEN,
    ConditionType.WORK_SYNCHRONIZED,
)
_APPLYING: Final = (*_BEGINNING, ConditionType.APPLIED, ConditionType.AVAILABLE)
_REPORTING: Final = (*_BEGINNING, ConditionType.DIFF_REPORTED)
_OUTCOME: Final = (ConditionType.APPLIED, ConditionType.AVAILABLE)


def chain_of(placement: Placement) -> Chain:
    """The conditions of a placement's clusters, by its present apply strategy."""
    strategy = placement.spec.strategy.apply_strategy
    if strategy and strategy.type == ApplyType.REPORT_DIFF:
        return _REPORTING
    return _APPLYING


@dataclass(frozen=True, slots=True)
class Frame:
    """What the entries of all clusters have in common."""

    chain: Chain
    generation: int
    """Of the placement: every condition in its status speaks of it."""
    indexes: Mapping[str, str]
    """Index of each resource snapshot that is there, by its name."""
    now: datetime
    wanted: str = ""
    """Name of the resource snapshot that every cluster is to get; empty where runs decide."""


def picked(
    decision: ClusterDecision,
    binding: Binding | None,
    frame: Frame,
    *,
    before: ClusterPlacementStatus | None,
) -> ClusterPlacementStatus:
    """Entry of a picked cluster; `before` is the entry that is there already."""
    entry = ClusterPlacementStatus(cluster_name=decision.cluster_name)
    scheduled = (ConditionType.SCHEDULED, "True", PlacementReason.SCHEDULED, decision.reason)
    found = [_condition(*scheduled, frame, before)]
    if binding is None:
        found.append(_pending(frame.chain[0], frame, before))
    else:
        found += _follow(binding, frame, before)
        _copy_details(entry, binding, found)
        # Where runs do not decide, this is the version that the conditions speak of, also while
        # the cluster is held back at an older one.
        index = frame.indexes.get(frame.wanted or binding.spec.resource_snapshot_name, "")
        if index:
            entry.observed_resource_index = index
    entry.conditions = found
    return entry


def not_picked(decision: ClusterDecision, frame: Frame) -> ClusterPlacementStatus:
    """Entry, without a name, of a cluster that the policy wants and could not get."""
    failed = (ConditionType.SCHEDULED, "False", PlacementReason.SCHEDULE_FAILED, decision.reason)
    return ClusterPlacementStatus(conditions=[_condition(*failed, frame, None)])


def _follow(
    binding: Binding, frame: Frame, before: ClusterPlacementStatus | None
) -> list[Condition]:
    """Conditions of the binding, up to the first that is not True."""
    copied: list[Condition] = []
    if _is_undecided(binding, frame):
        return [_pending(frame.chain[0], frame, before)]
    for kind in frame.chain:
        own = conditions.find(binding.status.conditions, kind)
        if (
            own is None
            or own.status == "Unknown"
            or own.observed_generation != binding.metadata.generation
        ):
            return [*copied, _pending(kind, frame, before)]
        copied.append(own.model_copy(update={"observed_generation": frame.generation}))
        if own.status == "False":
            break
    return copied


def _is_undecided(binding: Binding, frame: Frame) -> bool:
    """Return whether what the binding says is of another version than the cluster is to get.

    One that says that it is held back speaks of the new version, although it has the old one.
    """
    if frame.wanted in ("", binding.spec.resource_snapshot_name):
        return False
    return not conditions.has(
        binding.status.conditions,
        ConditionType.ROLLOUT_STARTED,
        "False",
        generation=binding.metadata.generation,
    )


def _pending(kind: ConditionType, frame: Frame, before: ClusterPlacementStatus | None) -> Condition:
    wording = PENDING[kind]
    return _condition(kind, "Unknown", wording.reason, wording.message, frame, before)


def _condition(
    kind: ConditionType,
    status: str,
    reason: str,
    message: str,
    frame: Frame,
    before: ClusterPlacementStatus | None,
) -> Condition:
    kept = [old for old in (before.conditions if before else ()) if old.type == kind]
    new = conditions.make(kind, status, reason, message, generation=frame.generation, now=frame.now)
    conditions.put(kept, new)
    return kept[0]


def _copy_details(entry: ClusterPlacementStatus, binding: Binding, found: list[Condition]) -> None:
    """The override lists and the failed, drifted and differing objects that belong to `found`."""
    holds = {each.type: each.status for each in found}
    spec, status = binding.spec, binding.status
    if holds.get(ConditionType.ROLLOUT_STARTED) == "True":
        if spec.resource_override_snapshots:
            entry.applicable_resource_overrides = spec.resource_override_snapshots
        if spec.cluster_resource_override_snapshots:
            entry.applicable_cluster_resource_overrides = spec.cluster_resource_override_snapshots
    outcomes = {holds[kind] for kind in _OUTCOME if kind in holds}
    if "False" in outcomes and status.failed_placements:
        entry.failed_placements = status.failed_placements
    if outcomes and status.drifted_placements:
        entry.drifted_placements = status.drifted_placements
    reported = holds.get(ConditionType.DIFF_REPORTED) == "True"
    if (reported or "False" in outcomes) and status.diffed_placements:
        entry.diffed_placements = status.diffed_placements
