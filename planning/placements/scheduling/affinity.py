"""Affinity: which clusters a policy requires or prefers, by their labels and properties.

An invalid selector or value matches nothing, and a missing property makes a cluster neither better
nor worse: a member that reports invalid values must not keep a placement from the others.

contract: placement 2.2 (affinity)
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from api.scheduling import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PlacementPolicy,
    PreferredClusterSelector,
    PropertyOperator,
    PropertySelectorRequirement,
    PropertySorter,
    PropertySortOrder,
)
from planning import quantities, selectors
from planning.placements.eligibility import Candidate

_COMPARE: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {
    PropertyOperator.GREATER_THAN: operator.gt,
    PropertyOperator.GREATER_THAN_OR_EQUAL: operator.ge,
    PropertyOperator.EQUAL: operator.eq,
    PropertyOperator.NOT_EQUAL: operator.ne,
    PropertyOperator.LESS_THAN: operator.lt,
    PropertyOperator.LESS_THAN_OR_EQUAL: operator.le,
}


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences of a policy among the clusters of one fleet."""

    terms: Sequence[PreferredClusterSelector]
    extremes: Mapping[str, tuple[Decimal, Decimal]]
    """Minimum and maximum of each property used for sorting, over the whole fleet."""

    def score(self, cluster: Candidate) -> int:
        """Return the sum of the weights of all matching terms."""
        return sum(self._weight(each, cluster) for each in self.terms)

    def _weight(self, term: PreferredClusterSelector, cluster: Candidate) -> int:
        if not _labels_match(term.preference, cluster):
            return 0
        sorter = term.preference.property_sorter
        if sorter is None:
            return term.weight
        return _rounded(term.weight * self._share(sorter, cluster))

    def _share(self, sorter: PropertySorter, cluster: Candidate) -> Decimal:
        """Return how close the cluster is to the best value in the fleet, between 0 and 1."""
        value = quantities.known(cluster.properties.get(sorter.name))
        least, most = self.extremes.get(sorter.name, (Decimal(0), Decimal(0)))
        if value is None or least == most:
            return Decimal(0)
        share = (value - least) / (most - least)
        return share if sorter.sort_order == PropertySortOrder.DESCENDING else 1 - share


def preferences(policy: PlacementPolicy, fleet: Sequence[Candidate]) -> Preferences:
    """Return the policy's preferences, with the extremes of this fleet."""
    terms = [each for each in preferred_terms(policy) if each.weight]
    sorters = [each.preference.property_sorter for each in terms]
    extremes = {}
    for name in {each.name for each in sorters if each}:
        read = (quantities.known(each.properties.get(name)) for each in fleet)
        values = [each for each in read if each is not None]
        if values:
            extremes[name] = (min(values), max(values))
    return Preferences(terms, extremes)


def required_terms(policy: PlacementPolicy) -> list[ClusterSelectorTerm]:
    """Return the terms of which a cluster must meet one; if none, all clusters qualify."""
    required = _affinity(policy).required_during_scheduling_ignored_during_execution
    return required.cluster_selector_terms if required else []


def preferred_terms(policy: PlacementPolicy) -> list[PreferredClusterSelector]:
    """Return the terms that make a cluster better or worse than others."""
    return _affinity(policy).preferred_during_scheduling_ignored_during_execution


def meets(term: ClusterSelectorTerm, cluster: Candidate) -> bool:
    """Return whether the cluster has the labels and the properties of a required term."""
    selector = term.property_selector
    wanted = selector.match_expressions if selector else []
    return _labels_match(term, cluster) and all(_has(each, cluster) for each in wanted)


def _labels_match(term: ClusterSelectorTerm, cluster: Candidate) -> bool:
    # A term without a label selector matches any labels.
    selector = term.label_selector
    if selector is None:
        return True
    return selectors.problem(selector) is None and selectors.matches(selector, cluster.labels)


def _has(requirement: PropertySelectorRequirement, cluster: Candidate) -> bool:
    compare = _COMPARE.get(requirement.operator)
    value = quantities.known(cluster.properties.get(requirement.name))
    wanted = [quantities.known(each) for each in requirement.values]
    if compare is None or value is None or len(wanted) != 1 or wanted[0] is None:
        return False
    return compare(value, wanted[0])


def _affinity(policy: PlacementPolicy) -> ClusterAffinity:
    affinity = policy.affinity and policy.affinity.cluster_affinity
    return affinity or ClusterAffinity()


def _rounded(weight: Decimal) -> int:
    # Halves away from zero, as Go rounds.
    return int(weight.quantize(Decimal(1), rounding=ROUND_HALF_UP))
