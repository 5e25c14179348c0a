"""Placement policies: which clusters a placement picks.

contract: placement 2.2
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from api.base import FrozenModel, Int32, Open
from api.markers import Atomic, CelRule, Defaulted, max_items, maximum, minimum
from api.selectors import LabelSelector


class PlacementType(StrEnum):
    """How clusters are picked."""

    PICK_ALL = "PickAll"
    PICK_N = "PickN"
    PICK_FIXED = "PickFixed"


class PropertyOperator(StrEnum):
    """How an observed property compares with the given value."""

    GREATER_THAN = "Gt"
    GREATER_THAN_OR_EQUAL = "Ge"
    EQUAL = "Eq"
    NOT_EQUAL = "Ne"
    LESS_THAN = "Lt"
    LESS_THAN_OR_EQUAL = "Le"


class PropertySelectorRequirement(FrozenModel):
    """One requirement on a property of a cluster."""

    name: str
    """Name of the property."""
    operator: Open[PropertyOperator]
    """How the observed value compares with the given one: Gt, Ge, Eq, Ne, Lt or Le."""
    values: Annotated[list[str], max_items(1)]
    """The given value, a Kubernetes quantity."""


class PropertySelector(FrozenModel):
    """Selector of clusters by their properties; all requirements must hold."""

    match_expressions: list[PropertySelectorRequirement]
    """Requirements on properties."""


class PropertySortOrder(StrEnum):
    """Which end of the observed values is preferred."""

    ASCENDING = "Ascending"
    DESCENDING = "Descending"


class PropertySorter(FrozenModel):
    """A preference for clusters by the value of a property."""

    name: str
    """Name of the property."""
    sort_order: PropertySortOrder
    """Descending prefers high values, Ascending prefers low ones."""


class ClusterSelectorTerm(FrozenModel):
    """Criteria for clusters; all of them must match."""

    label_selector: Annotated[LabelSelector, Atomic()] | None = None
    """Match clusters by their labels."""
    property_selector: PropertySelector | None = None
    """Match clusters by their properties; only in required terms."""
    property_sorter: PropertySorter | None = None
    """Scale the weight by a property; only in preferred terms."""


class ClusterSelector(FrozenModel):
    """Selector of clusters that match at least one term."""

    cluster_selector_terms: Annotated[list[ClusterSelectorTerm], max_items(10)]
    """Terms, at least one of which must match."""


class PreferredClusterSelector(FrozenModel):
    """A preference that adds to the score of clusters that match."""

    weight: Annotated[Int32, minimum(-100), maximum(100)]
    """Weight that a match adds to the score, from -100 to 100."""
    preference: ClusterSelectorTerm
    """Which clusters match."""


class ClusterAffinity(FrozenModel):
    """Which clusters may be picked, and which are preferred."""

    required_during_scheduling_ignored_during_execution: ClusterSelector | None = None
    """Only clusters that match may be picked."""
    preferred_during_scheduling_ignored_during_execution: list[PreferredClusterSelector] = Field(
        default_factory=list
    )
    """PickN prefers clusters that match."""


class Affinity(FrozenModel):
    """Rules for which clusters may be picked, and which are preferred."""

    cluster_affinity: ClusterAffinity | None = None
    """Rules on the clusters' labels and properties."""


class UnsatisfiableConstraintAction(StrEnum):
    """What to do with a cluster that would break a spread constraint."""

    DO_NOT_SCHEDULE = "DoNotSchedule"
    SCHEDULE_ANYWAY = "ScheduleAnyway"


class TopologySpreadConstraint(FrozenModel):
    """A rule that spreads the picked clusters over the values of a label."""

    max_skew: Annotated[Int32, minimum(1), Defaulted()] = 1
    """How much the number of clusters may differ between two values."""
    topology_key: str
    """Key of the label over whose values clusters are spread."""
    when_unsatisfiable: Annotated[UnsatisfiableConstraintAction, Defaulted()] = (
        UnsatisfiableConstraintAction.DO_NOT_SCHEDULE
    )
    """Whether clusters that break the constraint are excluded, or only ranked lower."""


class TaintEffect(StrEnum):
    """What a taint does."""

    NO_SCHEDULE = "NoSchedule"


class TolerationOperator(StrEnum):
    """How a toleration's value compares with a taint's."""

    EQUAL = "Equal"
    EXISTS = "Exists"


class Toleration(FrozenModel):
    """Permission to pick clusters with a matching taint."""

    key: str = ""
    """Taint key; empty, with operator Exists, matches all keys."""
    operator: Annotated[TolerationOperator, Defaulted()] = TolerationOperator.EQUAL
    """Equal requires the value to match too; Exists does not."""
    value: str = ""
    """Taint value; empty with operator Exists."""
    effect: TaintEffect | None = None
    """Taint effect; if absent, any effect matches."""


class PlacementPolicy(FrozenModel):
    """Which clusters a placement picks."""

    placement_type: Annotated[PlacementType, Defaulted()] = PlacementType.PICK_ALL
    """Pick all clusters, a number of them, or those named."""
    cluster_names: Annotated[list[str], max_items(100)] = Field(default_factory=list)
    """Names of the clusters; only for PickFixed."""
    number_of_clusters: Annotated[Int32, minimum(0)] | None = None
    """How many clusters; only for PickN, where it is required."""
    affinity: Affinity | None = None
    """Which clusters may be picked, and which are preferred; not for PickFixed."""
    topology_spread_constraints: list[TopologySpreadConstraint] = Field(default_factory=list)
    """How to spread the clusters; only for PickN."""
    tolerations: Annotated[
        list[Toleration],
        max_items(100),
        CelRule(
            "!self.exists(t, t.operator == 'Exists' && has(t.value) && t.value != '')",
            "value must be empty when operator is Exists",
        ),
        CelRule(
            "!self.exists(t, (!has(t.key) || t.key == '') && t.operator != 'Exists')",
            "operator must be Exists when key is empty",
        ),
    ] = Field(default_factory=list)
    """Taints that the placement tolerates; not for PickFixed."""
