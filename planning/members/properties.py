"""Properties of a cluster that placements may select by: nodes, version, CPU and memory.

contract: placement 2.2 (property selectors and sorters), 11
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from api.base import Condition
from api.members import MemberCluster, MemberClusterStatus, PropertyValue, ResourceUsage
from api.reasons import ConditionType, MemberMessage, MemberReason, collection_failed
from planning import conditions, quantities

Json = dict[str, Any]

NODE_COUNT: Final = "kubernetes-fleet.io/node-count"
VERSION: Final = "k8s.io/k8s-version"
_NAMES: Final = (NODE_COUNT, VERSION)

_WRITTEN: Final = {"cpu": quantities.in_thousands, "memory": quantities.in_kibi}
"""The resources that are summed up, and how an amount of each is formatted."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Properties of a cluster at one time."""

    version: str
    nodes: int
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    available: Mapping[str, str]
    """Allocatable and not requested by any pod."""
    at: datetime


def observe(
    nodes: Iterable[Json], pods: Iterable[Json], *, version: str, now: datetime
) -> Observed:
    """Sum up what the nodes have and what the pods running on them request."""
    statuses = [each.get("status", {}) for each in nodes]
    capacity = _sums(each.get("capacity", {}) for each in statuses)
    allocatable = _sums(each.get("allocatable", {}) for each in statuses)
    requested = _sums(_requests(pods))
    # A pod may be listed before its node is.
    free = {name: max(Decimal(0), allocatable[name] - requested[name]) for name in _WRITTEN}
    return Observed(
        version=version,
        nodes=len(statuses),
        capacity=_written(capacity),
        allocatable=_written(allocatable),
        available=_written(free),
        at=now,
    )


def reported(
    status: MemberClusterStatus,
    observed: Observed | None,
    *,
    member: MemberCluster,
    problem: str = "",
    now: datetime,
) -> MemberClusterStatus:
    """Return the status with the properties last observed, and whether they could be collected.

    Args:
        status: the rest of the agent's report.
        observed: None as long as nothing has been observed; the properties then stay as they are.
        member: the member as registered, with its current status.
        problem: why the properties could not be collected now; empty if they could.
        now: time of the report.
    """
    result = status.model_copy(update=_values(observed, member.status))
    fresh = _conditions(problem, generation=member.metadata.generation, now=now)
    result.conditions = [*status.conditions, *conditions.renewed(member.status.conditions, fresh)]
    return result


def _values(observed: Observed | None, before: MemberClusterStatus) -> Json:
    if observed is None:
        kept = {name: each for name, each in before.properties.items() if name in _NAMES}
        return {"properties": kept, "resource_usage": before.resource_usage}
    values = {NODE_COUNT: str(observed.nodes), VERSION: observed.version}
    at = observed.at.replace(microsecond=0)
    return {
        "properties": {
            name: PropertyValue(value=value, observation_time=at) for name, value in values.items()
        },
        "resource_usage": ResourceUsage(
            capacity=dict(observed.capacity),
            allocatable=dict(observed.allocatable),
            available=dict(observed.available),
            observation_time=at,
        ),
    }


def _conditions(problem: str, *, generation: int, now: datetime) -> list[Condition]:
    started = conditions.make(
        ConditionType.PROPERTY_PROVIDER_STARTED,
        "True",
        MemberReason.PROVIDER_STARTED,
        MemberMessage.PROVIDER_STARTED,
        generation=generation,
        now=now,
    )
    collected = conditions.make(
        ConditionType.PROPERTY_COLLECTION_SUCCEEDED,
        "False" if problem else "True",
        MemberReason.COLLECTION_FAILED if problem else MemberReason.COLLECTED,
        collection_failed(problem) if problem else MemberMessage.COLLECTED,
        generation=generation,
        now=now,
    )
    return [started, collected]


def _requests(pods: Iterable[Json]) -> Iterator[Mapping[str, str]]:
    for pod in pods:
        for container in pod["spec"].get("containers") or []:
            yield container.get("resources", {}).get("requests") or {}


def _sums(amounts: Iterable[Mapping[str, str]]) -> dict[str, Decimal]:
    known = list(amounts)
    return {name: quantities.total(each.get(name, 0) for each in known) for name in _WRITTEN}


def _written(amounts: Mapping[str, Decimal]) -> dict[str, str]:
    return {name: write(amounts[name]) for name, write in _WRITTEN.items()}
