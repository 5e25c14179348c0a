"""Kubernetes events about the progress of a placement.

contract: placement 7.6
"""

from collections.abc import Iterator
from datetime import datetime

from api.kinds import Scope
from api.placements import Placement, PlacementStatus
from api.reasons import COMPLETED, EVENTS, ConditionType, placement_condition
from planning import conditions, events
from planning.events import Event
from planning.placements.cluster_status import chain_of


def happened(
    placement: Placement, after: PlacementStatus, *, scope: Scope, now: datetime
) -> list[Event]:
    """Return events for what is new in a status, compared with the placement's current one."""
    told = _news(placement, after, scope)
    return events.spaced(Event(reason=reason, message=text, at=now) for reason, text in told)


def _news(placement: Placement, after: PlacementStatus, scope: Scope) -> Iterator[tuple[str, str]]:
    generation, before = placement.metadata.generation, placement.status
    chain = chain_of(placement)

    def holds(status: PlacementStatus, kind: ConditionType) -> bool:
        name = placement_condition(scope.placement, kind)
        return conditions.has(status.conditions, name, generation=generation)

    for kind in chain:
        if holds(after, kind) and not holds(before, kind):
            yield EVENTS[kind]
    whole = (ConditionType.SCHEDULED, *chain)
    done = [all(holds(status, kind) for kind in whole) for status in (before, after)]
    if done == [False, True]:
        yield COMPLETED
