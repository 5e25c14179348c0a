"""Placements: which objects are placed on which clusters.

contract: placement 1, 2 and 7
"""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from api.base import (
    ApiModel,
    Condition,
    Conditions,
    FrozenModel,
    Int32,
    KubernetesObject,
    NamespacedName,
)
from api.kinds import CLUSTER_RESOURCE_PLACEMENT, RESOURCE_PLACEMENT
from api.markers import (
    AGE,
    Atomic,
    CelRule,
    CelRules,
    Column,
    Defaulted,
    Resource,
    condition_column,
    max_items,
    maximum,
    min_items,
    minimum,
)
from api.outcomes import (
    DiffedPlacements,
    DriftedPlacements,
    FailedPlacements,
    ResourceIdentifier,
)
from api.rollouts import RolloutStrategy, RolloutStrategyType
from api.scheduling import PlacementPolicy, PlacementType
from api.selectors import LabelSelector

__all__ = [
    "ClusterPlacementStatus",
    "ClusterResourcePlacement",
    "Placement",
    "PlacementPolicy",
    "PlacementSpec",
    "PlacementStatus",
    "PlacementType",
    "ResourceIdentifier",
    "ResourcePlacement",
    "ResourceSelector",
    "RolloutStrategy",
    "RolloutStrategyType",
    "SelectionScope",
    "StatusReportingScope",
]


class SelectionScope(StrEnum):
    """What is selected together with a Namespace."""

    NAMESPACE_ONLY = "NamespaceOnly"
    NAMESPACE_WITH_RESOURCES = "NamespaceWithResources"
    NAMESPACE_WITH_RESOURCE_SELECTORS = "NamespaceWithResourceSelectors"


class ResourceSelector(FrozenModel):
    """Selector of objects of one kind: by name, by label, or all of them."""

    group: str
    """API group; empty for the core group."""
    version: str
    """API version."""
    kind: str
    """Kind of the objects."""
    name: str = ""
    """Select the object with this name."""
    label_selector: Annotated[LabelSelector, Atomic()] | None = None
    """Select objects with these labels."""
    selection_scope: Annotated[SelectionScope, Defaulted()] = (
        SelectionScope.NAMESPACE_WITH_RESOURCES
    )
    """For a Namespace: select it alone, with all in it, or with what other selectors pick."""


class StatusReportingScope(StrEnum):
    """Where the status of a ClusterResourcePlacement can be read."""

    CLUSTER_SCOPE_ONLY = "ClusterScopeOnly"
    NAMESPACE_ACCESSIBLE = "NamespaceAccessible"


_POLICY_RULES = (
    CelRule("self.placementType == oldSelf.placementType", "placement type is immutable"),
    CelRule(
        "self.placementType != 'PickFixed' || !(has(self.affinity) || has(self.numberOfClusters)"
        " || has(self.topologySpreadConstraints) || has(self.tolerations))",
        "affinity, numberOfClusters, topologySpreadConstraints, and tolerations cannot be set"
        " when placementType is PickFixed",
    ),
    CelRule(
        "self.placementType != 'PickAll' || !(has(self.clusterNames)"
        " || has(self.numberOfClusters) || has(self.topologySpreadConstraints))",
        "clusterNames, numberOfClusters, and topologySpreadConstraints cannot be set"
        " when placementType is PickAll",
    ),
    CelRule(
        "self.placementType != 'PickN' || (!has(self.clusterNames) && has(self.numberOfClusters))",
        "clusterNames cannot be set and numberOfClusters must be set when placementType is PickN",
    ),
)
_WHOLE_BY_SELECTORS = (
    "selector.kind == 'Namespace' && selector.selectionScope == 'NamespaceWithResourceSelectors'"
)
_SELECTION_RULES = (
    CelRule(
        f"self.resourceSelectors.filter(selector, {_WHOLE_BY_SELECTORS}).size() <= 1",
        "only one namespace selector with NamespaceWithResourceSelectors mode is allowed",
    ),
    CelRule(
        f"!self.resourceSelectors.exists(selector, {_WHOLE_BY_SELECTORS}"
        " && (has(selector.labelSelector) || !has(selector.name) || selector.name == ''))",
        "namespace selector with NamespaceWithResourceSelectors mode must select by name"
        " (not by label)",
    ),
    CelRule(
        f"!self.resourceSelectors.exists(selector, {_WHOLE_BY_SELECTORS})"
        " || self.resourceSelectors.filter(selector, selector.kind == 'Namespace').size() <= 1",
        "when using NamespaceWithResourceSelectors mode, only one namespace selector is allowed"
        " (cannot mix with other namespace selectors)",
    ),
)
_POLICY_STAYS = CelRule(
    "!has(oldSelf.policy) || has(self.policy)", "policy cannot be removed once set"
)
_REPORTING_RULES = (
    CelRule(
        "self.statusReportingScope != 'NamespaceAccessible'"
        " || self.resourceSelectors.filter(selector, selector.kind == 'Namespace').size() == 1",
        "when statusReportingScope is NamespaceAccessible, exactly one resourceSelector with"
        " kind 'Namespace' is required",
    ),
    CelRule(
        "!has(oldSelf.statusReportingScope)"
        " || self.statusReportingScope == oldSelf.statusReportingScope",
        "statusReportingScope is immutable",
    ),
)


class PlacementSpec(FrozenModel):
    """What to place, on which clusters, and how to roll it out."""

    resource_selectors: Annotated[
        list[ResourceSelector],
        min_items(1),
        max_items(100),
        CelRule(
            "!self.exists(selector, has(selector.name) && selector.name != ''"
            " && has(selector.labelSelector))",
            "name and labelSelector are mutually exclusive in a resource selector",
        ),
    ]
    """Objects to place: everything that at least one selector matches."""
    policy: Annotated[PlacementPolicy, CelRules(_POLICY_RULES)] | None = None
    """Which clusters to place on; all if absent."""
    strategy: RolloutStrategy = Field(default_factory=RolloutStrategy)
    """How changes of the content are rolled out, and how objects are applied."""
    revision_history_limit: Annotated[Int32, minimum(1), maximum(1000), Defaulted()] = 10
    """Number of snapshots to keep for rolling back."""
    status_reporting_scope: Annotated[StatusReportingScope, Defaulted()] = (
        StatusReportingScope.CLUSTER_SCOPE_ONLY
    )
    """Report the status in the placed namespace too; only for a ClusterResourcePlacement."""


class ClusterPlacementStatus(ApiModel):
    """Progress of a placement on one cluster."""

    cluster_name: str = ""
    """Name of the member cluster; empty for a cluster that could not be found."""
    applicable_resource_overrides: list[NamespacedName] = Field(default_factory=list)
    """Namespaced override snapshots that apply to the cluster."""
    applicable_cluster_resource_overrides: list[str] = Field(default_factory=list)
    """Cluster-scoped override snapshots that apply to the cluster."""
    failed_placements: FailedPlacements = Field(default_factory=list)
    """Objects that could not be applied or are not available."""
    drifted_placements: DriftedPlacements = Field(default_factory=list)
    """Objects that were changed on the member."""
    diffed_placements: DiffedPlacements = Field(default_factory=list)
    """Objects that differ between the hub and the member."""
    conditions: list[Condition] = Field(default_factory=list)
    """Scheduled, followed by the conditions of the binding."""
    observed_resource_index: str = ""
    """Index of the resource snapshot that belongs on the cluster; empty if none."""


class PlacementStatus(ApiModel):
    """Progress of a placement."""

    selected_resources: list[ResourceIdentifier] = Field(default_factory=list)
    """Objects in the observed resource snapshot."""
    observed_resource_index: str = ""
    """Index of the resource snapshot on all clusters; empty while they differ."""
    placement_statuses: list[ClusterPlacementStatus] = Field(default_factory=list)
    """One entry per cluster."""
    conditions: Conditions = Field(default_factory=list)
    """Scheduled, RolloutStarted and so on, aggregated over all clusters."""


def _columns(kind: str) -> tuple[Column, ...]:
    def generation(name: str, condition: str, priority: int = 0) -> Column:
        path = f'.status.conditions[?(@.type=="{kind}{condition}")].observedGeneration'
        return Column(name, path, priority=priority)

    return (
        Column("Gen", ".metadata.generation"),
        Column("Type", ".spec.policy.placementType", priority=1),
        condition_column("Scheduled", f"{kind}Scheduled"),
        generation("Scheduled-Gen", "Scheduled"),
        condition_column("Work-Synchronized", f"{kind}WorkSynchronized", wide=True),
        generation("Work-Synchronized-Gen", "WorkSynchronized", priority=1),
        condition_column("Available", f"{kind}Available"),
        generation("Available-Gen", "Available"),
        AGE,
    )


class Placement(KubernetesObject):
    """Base of the placements of both scopes."""

    spec: Annotated[PlacementSpec, CelRules(_SELECTION_RULES), _POLICY_STAYS]
    """What to place, on which clusters, and how to roll it out."""
    status: PlacementStatus = Field(default_factory=PlacementStatus)
    """Progress of the placement."""


class ClusterResourcePlacement(Placement):
    """A placement of cluster-scoped objects, and of namespaces with their content, on clusters."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_PLACEMENT,
        short_names=("crp",),
        columns=_columns(CLUSTER_RESOURCE_PLACEMENT.kind),
    )

    api_version: str = CLUSTER_RESOURCE_PLACEMENT.api_version
    kind: str = CLUSTER_RESOURCE_PLACEMENT.kind
    spec: Annotated[
        PlacementSpec, CelRules(_SELECTION_RULES), _POLICY_STAYS, CelRules(_REPORTING_RULES)
    ]
    """What to place, on which clusters, and how to roll it out."""


class ResourcePlacement(Placement):
    """A placement of objects of its own namespace on clusters."""

    resource: ClassVar[Resource] = Resource(
        RESOURCE_PLACEMENT, short_names=("rp",), columns=_columns(RESOURCE_PLACEMENT.kind)
    )

    api_version: str = RESOURCE_PLACEMENT.api_version
    kind: str = RESOURCE_PLACEMENT.kind
