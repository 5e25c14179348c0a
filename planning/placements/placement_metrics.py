"""Metric labels from a placement's status.

contract: placement 7.6
"""

from typing import Final

from api.kinds import Scope
from api.placements import Placement
from api.reasons import ConditionType, placement_condition
from planning import conditions
from planning.placements.cluster_status import chain_of

COMPLETED: Final = {"conditionType": "Completed", "status": "True", "reason": "Completed"}
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
    return own | COMPLETED
