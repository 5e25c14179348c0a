"""The progress of a placement as others observe it: Kubernetes events, and labels for its metric.

contract: placement 7.6
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

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
    news = _news(placement, after, scope)
    return events.spaced(Event(reason=reason, message=text, at=now) for reason, text in news)


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


_COMPLETED_LABELS: Final = {"conditionType": "Completed", "status": "True", "reason": "Completed"}
_NOTHING: Final = "nil"
"""KubeFleet's value if there is no condition of the current generation."""


def labels(placement: Placement, *, scope: Scope) -> dict[str, str]:
    """Return the labels of the first condition that is not True yet, or of completion."""
    generation = placement.metadata.generation
    own = {"generation": str(generation)}
    for kind in (ConditionType.SCHEDULED, *chain_of(placement)):
        name = placement_condition(scope.placement, kind)
        found = conditions.find(placement.status.conditions, name)
        if found is None or found.observed_generation != generation:
            return own | {"conditionType": name, "status": _NOTHING, "reason": _NOTHING}
        if found.status != "True":
            said = {"status": str(found.status), "reason": found.reason}
            return own | {"conditionType": name} | said
    return own | _COMPLETED_LABELS
