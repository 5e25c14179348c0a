"""A placement's conditions over all clusters, from its entries for each.

contract: placement 7.3, 7.4
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from api.kinds import Kind
from api.placements import ClusterPlacementStatus
from api.reasons import (
    AGGREGATES,
    ConditionType,
    PlacementMessage,
    PlacementReason,
    Wording,
    no_version_yet,
    start_unknown,
)
from planning import conditions
from planning.placements.cluster_status import Chain

Entries = Sequence[ClusterPlacementStatus]
"""The placement's status entries of picked clusters; at least one."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A condition over all clusters."""

    kind: ConditionType
    status: str
    reason: str
    message: str


def observed_index(entries: Entries) -> str:
    """Return the index that all clusters have; empty while they differ or have none."""
    indexes = {each.observed_resource_index for each in entries}
    return indexes.pop() if len(indexes) == 1 else ""


def controlled_by_runs(entries: Entries, *, chain: Chain, run: Kind) -> Iterator[Saying]:
    """Return the conditions of a placement that runs roll out; `run` is the kind of the runs."""
    unclear = _unclear(entries, run)
    if unclear:
        yield Saying(ConditionType.ROLLOUT_STARTED, "Unknown", PlacementReason.EXTERNAL, unclear)
    else:
        yield from aggregated(entries, chain=chain)


def _unclear(entries: Entries, run: Kind) -> str:
    """Return why it is unknown whether the rollout has started (contract: placement 7.3)."""
    if any(a.observed_resource_index != b.observed_resource_index for a, b in pairwise(entries)):
        return PlacementMessage.VERSIONS_DIFFER
    if not observed_index(entries):
        return no_version_yet(run)
    for entry in entries:
        if conditions.has(entry.conditions, ConditionType.ROLLOUT_STARTED, "Unknown"):
            return start_unknown(entry.cluster_name)
    return ""


def aggregated(entries: Entries, *, chain: Chain) -> Iterator[Saying]:
    """Return the conditions in order, up to the first that is not True on all clusters.

    contract: placement 7.4
    """
    for kind in chain:
        found = [conditions.find(entry.conditions, kind) for entry in entries]
        statuses = [each.status if each else "Unknown" for each in found]
        worst = next((each for each in ("Unknown", "False") if each in statuses), "True")
        wording = _wording(kind, worst, entries)
        yield Saying(kind, worst, wording.reason, wording.count(statuses.count(worst)))
        if worst != "True":
            return


def _wording(kind: ConditionType, status: str, entries: Entries) -> Wording:
    words = AGGREGATES[kind]
    if status != "True":
        return words.unknown if status == "Unknown" else words.failed
    overridden = any(
        entry.applicable_cluster_resource_overrides or entry.applicable_resource_overrides
        for entry in entries
    )
    if kind == ConditionType.OVERRIDDEN and not overridden:
        return Wording(PlacementReason.NO_OVERRIDE, PlacementMessage.NO_OVERRIDE)
    return words.done
