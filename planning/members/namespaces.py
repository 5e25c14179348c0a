"""A cluster's namespaces: a ResourcePlacement picks only clusters that have its own.

contract: placement 4 (filters of a ResourcePlacement), 11, 12
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from api.base import Condition
from api.kinds import APPLIED_WORK
from api.members import MemberCluster, MemberClusterStatus
from api.reasons import ConditionType, MemberMessage, MemberReason
from planning import conditions

Json = Mapping[str, Any]


def owners(namespaces: Iterable[Json]) -> dict[str, str]:
    """Return the namespaces that are not being deleted, each with the Work that placed it or ''."""
    return {
        each["metadata"]["name"]: _work(each["metadata"])
        for each in namespaces
        if "deletionTimestamp" not in each["metadata"]
    }


def _work(metadata: Json) -> str:
    references = metadata.get("ownerReferences", [])
    return next((each["name"] for each in references if each["kind"] == APPLIED_WORK.kind), "")


def reported(
    status: MemberClusterStatus,
    found: Mapping[str, str],
    *,
    member: MemberCluster,
    limit: int,
    now: datetime,
) -> MemberClusterStatus:
    """Return the status with the cluster's namespaces, the first by name if there are too many.

    Args:
        status: the rest of the agent's report.
        found: the Work that owns each namespace.
        member: the member as registered, with its current status.
        limit: how many are listed at most.
        now: time of the report.
    """
    listed = {name: found[name] for name in sorted(found)[:limit]}
    fresh = [_condition(len(found) > limit, generation=member.metadata.generation, now=now)]
    said = [*status.conditions, *conditions.renewed(member.status.conditions, fresh)]
    return status.model_copy(update={"namespaces": listed, "conditions": said})


def _condition(too_many: bool, *, generation: int, now: datetime) -> Condition:
    return conditions.make(
        ConditionType.NAMESPACES_COLLECTED,
        "False" if too_many else "True",
        MemberReason.NAMESPACES_TOO_MANY if too_many else MemberReason.NAMESPACES_COLLECTED,
        MemberMessage.NAMESPACES_TOO_MANY if too_many else MemberMessage.NAMESPACES_COLLECTED,
        generation=generation,
        now=now,
    )
