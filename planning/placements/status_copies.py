"""Copying a placement's status into the namespace that it places.

contract: placement 7.7
"""

from datetime import datetime
from typing import Any, Final

from api.base import OwnerReference, format_time
from api.kinds import CLUSTER_RESOURCE_PLACEMENT, NAMESPACE
from api.placements import Placement, PlacementStatus, StatusReportingScope
from api.reasons import (
    ConditionType,
    PlacementReason,
    placement_condition,
    status_not_synced,
    status_synced,
)
from planning import conditions

Json = dict[str, Any]

SYNCED: Final = placement_condition(CLUSTER_RESOURCE_PLACEMENT, ConditionType.STATUS_SYNCED)


def is_wanted(placement: Placement) -> bool:
    """Return whether users without rights on the placement itself should see its status."""
    wanted = placement.spec.status_reporting_scope == StatusReportingScope.NAMESPACE_ACCESSIBLE
    return wanted and not placement.metadata.namespace


def namespace_of(placement: Placement) -> str:
    """Return the namespace that the placement selects by name, for the copy; empty for none."""
    selected = (
        each.name
        for each in placement.spec.resource_selectors
        if (each.group, each.kind) == (NAMESPACE.group, NAMESPACE.kind)
    )
    return next(selected, "")


def body(
    placement: Placement, status: PlacementStatus, *, owner: OwnerReference, now: datetime
) -> Json:
    """Return the copy to write."""
    metadata: Json = {
        "name": placement.metadata.name,
        "namespace": namespace_of(placement),
        "ownerReferences": [owner.to_wire()],
    }
    source = copied(status).to_wire()
    return {"metadata": metadata, "sourceStatus": source, "lastUpdatedTime": format_time(now)}


def copied(status: PlacementStatus) -> PlacementStatus:
    """Return the part of a status that is copied: everything but the condition about the copy."""
    kept = [each for each in status.conditions if each.type != SYNCED]
    return status.model_copy(update={"conditions": kept})


def with_outcome(
    placement: Placement, status: PlacementStatus, error: str, *, now: datetime
) -> PlacementStatus:
    """Return the placement's status with the condition about its copy."""
    said = [each for each in placement.status.conditions if each.type == SYNCED]
    reason = PlacementReason.STATUS_NOT_SYNCED if error else PlacementReason.STATUS_SYNCED
    conditions.put(
        said,
        conditions.make(
            SYNCED,
            "False" if error else "True",
            reason,
            status_not_synced(error) if error else status_synced(namespace_of(placement)),
            generation=placement.metadata.generation,
            now=now,
        ),
    )
    return status.model_copy(update={"conditions": [*copied(status).conditions, *said]})
