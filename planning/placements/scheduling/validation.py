"""Policies that the API server accepts although they are not valid.

KubeFleet rejects them in a webhook, whose messages are used here. fleetgate has none: it keeps
using the last valid policy, and reports this in an event.

contract: placement 2.2 (refused by webhook), 2.3 (names)
"""

from collections.abc import Iterator, Sequence
from typing import Final

from api.placements import Placement
from api.scheduling import (
    ClusterSelectorTerm,
    PlacementPolicy,
    PlacementType,
    PreferredClusterSelector,
    PropertyOperator,
    PropertySelectorRequirement,
    Toleration,
)
from planning import quantities, selectors
from planning.placements.scheduling import affinity

_LONGEST_NAME: Final = 63
"""Limit of a label value: the name is a label on all objects created for the placement."""
_REQUIRED: Final = "affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution"


def problems(placement: Placement, *, in_force: PlacementPolicy | None) -> list[str]:
    """Return everything that has to be corrected, each with its field.

    `in_force` is the last valid policy, if there is one.
    """
    policy = placement.spec.policy or PlacementPolicy()
    before = in_force.tolerations if in_force else ()
    found = [
        *_of_required(affinity.required_terms(policy)),
        *_of_preferred(affinity.preferred_terms(policy), policy.placement_type),
        *_of_tolerations(policy.tolerations, before),
    ]
    return [*_of_name(placement.metadata.name), *(f"spec.policy.{each}" for each in found)]


def _of_name(name: str) -> Iterator[str]:
    if len(name) > _LONGEST_NAME:
        yield f"metadata.name: the name field cannot have length exceeding {_LONGEST_NAME}"


def _of_required(terms: Sequence[ClusterSelectorTerm]) -> Iterator[str]:
    for position, term in enumerate(terms):
        where = f"{_REQUIRED}.clusterSelectorTerms[{position}]"
        if term.property_sorter is not None:
            yield (
                f"{where}.propertySorter: PropertySorter is not allowed for"
                " RequiredDuringSchedulingIgnoredDuringExecution affinity"
            )
        yield from (f"{where}.{each}" for each in _of_term(term))


def _of_preferred(
    terms: Sequence[PreferredClusterSelector], placement_type: PlacementType
) -> Iterator[str]:
    if terms and placement_type == PlacementType.PICK_ALL:
        yield (
            f"{_PREFERRED}: PreferredDuringSchedulingIgnoredDuringExecution will be ignored"
            f" for placement policy type {placement_type}"
        )
    for position, each in enumerate(terms):
        where = f"{_PREFERRED}[{position}].preference"
        if each.preference.property_selector is not None:
            yield (
                f"{where}.propertySelector: PropertySelector is not allowed for"
                " PreferredDuringSchedulingIgnoredDuringExecution affinity"
            )
        yield from (f"{where}.{found}" for found in _of_term(each.preference))


def _of_term(term: ClusterSelectorTerm) -> Iterator[str]:
    problem = selectors.problem(term.label_selector)
    if problem:
        yield f"labelSelector: {problem}"
    selector = term.property_selector
    for position, each in enumerate(selector.match_expressions if selector else ()):
        found = _of_requirement(each)
        if found:
            yield (
                f"propertySelector.matchExpressions[{position}]:"
                f" invalid requirement on property {each.name}: {found}"
            )


def _of_requirement(requirement: PropertySelectorRequirement) -> str:
    operator, values = requirement.operator, requirement.values
    if operator not in set(PropertyOperator):
        return f"unsupported operator {operator}"
    if len(values) != 1:
        return f"operator {operator} requires exactly one value, got {len(values)}"
    if quantities.known(values[0]) is None:
        return f'value "{values[0]}" is not a valid resource.Quantity, such as 2, 500m or 16Gi'
    return ""


def _of_tolerations(wanted: Sequence[Toleration], before: Sequence[Toleration]) -> Iterator[str]:
    for position, each in enumerate(wanted):
        if each in wanted[:position]:
            yield (
                f"tolerations[{position}]: toleration {_said(each)} already exists,"
                " tolerations must be unique"
            )
    if not all(each in wanted for each in before):
        yield (
            "tolerations: tolerations have been updated/deleted,"
            " only additions to tolerations are allowed"
        )


def _said(toleration: Toleration) -> str:
    """Format a toleration as Go prints a struct."""
    key, value, effect = toleration.key, toleration.value, toleration.effect or ""
    return f"{{Key:{key} Operator:{toleration.operator} Value:{value} Effect:{effect}}}"
