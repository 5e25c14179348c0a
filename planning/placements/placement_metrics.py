"""What a placement's status is worth in labels of a metric.

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
"""What KubeFleet has where there is no condition of the present generation."""


def labels(placement: Placement, *, scope: Scope) -> dict[str, str]:
    """The first condition that does not hold yet, or that all do."""
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
