"""Search attributes of the workflows of runs, by which Temporal finds them.

`fleetgate local up`, `fleetgate temporal setup` and `fleetgate search-attributes` register them. In
a namespace without them, runs are started without search attributes.
"""

from collections.abc import Mapping
from typing import Final

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
)

from api.runs import UpdateRunSpec, UpdateRunStatus
from planning.identity import RunRef
from planning.runs import phases
from workflows.search_attribute_names import Name

Key = SearchAttributeKey[str]

PLACEMENT: Final = SearchAttributeKey.for_keyword(Name.PLACEMENT.value)
STRATEGY: Final = SearchAttributeKey.for_keyword(Name.STRATEGY.value)
SCOPE: Final = SearchAttributeKey.for_keyword(Name.SCOPE.value)
"""`cluster` or `namespaced`."""
NAMESPACE: Final = SearchAttributeKey.for_keyword(Name.NAMESPACE.value)
"""Namespace of the run on the hub; empty for a cluster-scoped run."""
STATE: Final = SearchAttributeKey.for_keyword(Name.STATE.value)
"""One of `planning.runs.phases.Phase`, as `fleetgate run list` shows it."""
STAGE: Final = SearchAttributeKey.for_keyword(Name.STAGE.value)
"""The run's current stage; empty before the run is planned and after its last stage."""

KEYWORD: Final = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
"""The type that all of them must have in the namespace."""
ALL: Final[tuple[Key, ...]] = (PLACEMENT, STRATEGY, SCOPE, NAMESPACE, STATE, STAGE)


def wrong(registered: Mapping[str, "IndexedValueType.ValueType"]) -> list[str]:
    """Return the names that a namespace has registered with a type other than Keyword."""
    return [key.name for key in ALL if registered.get(key.name, KEYWORD) != KEYWORD]


def missing(registered: Mapping[str, "IndexedValueType.ValueType"]) -> list[str]:
    """Return the names that a namespace has not registered."""
    return [key.name for key in ALL if key.name not in registered]


def at_start(ref: RunRef, spec: UpdateRunSpec) -> TypedSearchAttributes:
    """Return the values for a run that has not been planned.

    Every attribute gets a value, so that Temporal accepts the start only if all are registered.
    """
    values = {
        PLACEMENT: spec.placement_name,
        STRATEGY: spec.staged_rollout_strategy_name,
        SCOPE: ref.scope_name.name.lower(),
        NAMESPACE: ref.namespace,
        **moving(UpdateRunStatus()),
    }
    return TypedSearchAttributes([SearchAttributePair(key, values[key]) for key in ALL])


def moving(status: UpdateRunStatus) -> dict[Key, str]:
    """Return the values that change: a few times per stage, however many clusters it has."""
    return {STATE: phases.phase(status).value, STAGE: phases.stage_name(status)}
