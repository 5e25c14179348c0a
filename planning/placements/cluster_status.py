"""A placement's status entry for one cluster.

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
"""Conditions in the order in which they become True."""

_BEGINNING: Final = (
    ConditionType.ROLLOUT_STARTED,
    ConditionType.OVERRIDDEN,
    ConditionType.WORK_SYNCHRONIZED,
)
_APPLYING: Final = (*_BEGINNING, ConditionType.APPLIED, ConditionType.AVAILABLE)
_REPORTING: Final = (*_BEGINNING, ConditionType.DIFF_REPORTED)
_OUTCOME: Final = (ConditionType.APPLIED, ConditionType.AVAILABLE)


def chain_of(placement: Placement) -> Chain:
    """Return the conditions of a placement's clusters, by its current apply strategy."""
    strategy = placement.spec.strategy.apply_strategy
    if strategy and strategy.type == ApplyType.REPORT_DIFF:
        return _REPORTING
    return _APPLYING


@dataclass(frozen=True, slots=True)
class Frame:
    """Data that the entries of all clusters share."""

    chain: Chain
    generation: int
    """Of the placement: all conditions in its status observe this generation."""
    indexes: Mapping[str, str]
    """Index of each existing resource snapshot, by its name."""
    now: datetime
    wanted: str = ""
    """Name of the resource snapshot that every cluster should get; empty if runs decide."""


def picked(
    decision: ClusterDecision,
    binding: Binding | None,
    frame: Frame,
    *,
    before: ClusterPlacementStatus | None,
) -> ClusterPlacementStatus:
    """Return the entry of a picked cluster; `before` is its existing entry."""
    entry = ClusterPlacementStatus(cluster_name=decision.cluster_name)
    scheduled = (ConditionType.SCHEDULED, "True", PlacementReason.SCHEDULED, decision.reason)
    found = [_condition(*scheduled, frame, before)]
    if binding is None:
        found.append(_pending(frame.chain[0], frame, before))
    else:
        found += _follow(binding, frame, before)
        _copy_details(entry, binding, found)
        # If runs do not decide, this is the snapshot that the conditions are about, even while the
        # cluster is held back at an older one.
        index = frame.indexes.get(frame.wanted or binding.spec.resource_snapshot_name, "")
        if index:
            entry.observed_resource_index = index
    entry.conditions = found
    return entry


def not_picked(decision: ClusterDecision, frame: Frame) -> ClusterPlacementStatus:
    """Return the entry, without a name, for a cluster that the policy asks for and did not get."""
    failed = (ConditionType.SCHEDULED, "False", PlacementReason.SCHEDULE_FAILED, decision.reason)
    return ClusterPlacementStatus(conditions=[_condition(*failed, frame, None)])


def _follow(
    binding: Binding, frame: Frame, before: ClusterPlacementStatus | None
) -> list[Condition]:
    """Return the binding's conditions, up to the first that is not True."""
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
    """Return whether the binding's conditions are about another snapshot than the wanted one.

    A binding that reports being held back is about the wanted one, although it has the old one.
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
    """Copy the lists of overrides and of failed, drifted and differing objects that fit `found`."""
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
