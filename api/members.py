"""Member clusters: the clusters of the fleet, and their health.

contract: placement 1 and 11
"""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from api.base import ApiModel, Conditions, FrozenModel, Int32, KubernetesObject, Open, Time
from api.kinds import MEMBER_CLUSTER
from api.markers import (
    AGE,
    Atomic,
    CelRule,
    Column,
    Defaulted,
    Resource,
    condition_column,
    max_items,
    maximum,
    minimum,
    pattern,
)
from api.scheduling import TaintEffect


class RbacSubject(FrozenModel):
    """A subject of the hub's access control (RBAC)."""

    kind: str
    """User, Group or ServiceAccount."""
    api_group: str = ""
    """API group of the subject; empty for a ServiceAccount."""
    name: str
    """Name of the subject."""
    namespace: str = ""
    """Namespace of a ServiceAccount."""


class Taint(FrozenModel):
    """A taint that keeps placements off a member unless they tolerate it."""

    key: str
    """Key of the taint."""
    value: str = ""
    """Value of the taint."""
    effect: TaintEffect
    """Effect of the taint; always NoSchedule."""


class DeleteValidationMode(StrEnum):
    """Whether a member may leave while something is still placed on it."""

    SKIP = "Skip"
    STRICT = "Strict"


class DeleteOptions(FrozenModel):
    """How a member leaves the fleet."""

    validation_mode: Annotated[DeleteValidationMode, Defaulted()] = DeleteValidationMode.STRICT
    """Strict keeps a member from leaving while something is still placed on it."""


class MemberClusterSpec(ApiModel):
    """How a member takes part in the fleet."""

    identity: Annotated[RbacSubject, Atomic()]
    """Identity of the member's agent on the hub."""
    heartbeat_period_seconds: Annotated[Int32, minimum(1), maximum(600), Defaulted()] = 60
    """Seconds between heartbeats of the agent."""
    taints: Annotated[list[Taint], max_items(100)] = Field(default_factory=list)
    """Taints that keep placements off the member unless they tolerate them."""
    delete_options: DeleteOptions | None = None
    """How the member leaves the fleet."""


class PropertyValue(ApiModel):
    """A property of a member."""

    value: str
    """The observed value."""
    observation_time: Time
    """When it was observed."""


Quantities = dict[
    str,
    Annotated[
        int | str,
        pattern(
            r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
            r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
        ),
    ],
]
"""Amounts by resource, such as cpu or memory."""


class ResourceUsage(ApiModel):
    """Resources of a member: total and still available."""

    capacity: Quantities = Field(default_factory=dict)
    """Total resources."""
    allocatable: Quantities = Field(default_factory=dict)
    """Resources that workloads can use."""
    available: Quantities = Field(default_factory=dict)
    """Resources that are still free."""
    observation_time: Time | None = None
    """When it was observed."""


class AgentType(StrEnum):
    """Type of a member's agent."""

    MEMBER_AGENT = "MemberAgent"


class AgentStatus(ApiModel):
    """Status of one agent of a member."""

    type: Open[AgentType]
    """Type of the agent."""
    conditions: Conditions = Field(default_factory=list)
    """Joined and Healthy."""
    last_received_heartbeat: Time | None = None
    """When the agent last sent a heartbeat."""


class MemberClusterStatus(ApiModel):
    """Observed state of a member."""

    conditions: Conditions = Field(default_factory=list)
    """ReadyToJoin, Joined and Healthy."""
    namespaces: dict[str, str] = Field(default_factory=dict)
    """Namespaces on the member, with the Work that owns each."""
    properties: dict[str, PropertyValue] = Field(default_factory=dict)
    """Properties that placements may select and sort by."""
    resource_usage: ResourceUsage = Field(default_factory=ResourceUsage)
    """Resources of the member: total and still available."""
    agent_status: list[AgentStatus] = Field(default_factory=list)
    """Status of the member's agents."""


class MemberCluster(KubernetesObject):
    """A cluster that belongs to the fleet."""

    resource: ClassVar[Resource] = Resource(
        MEMBER_CLUSTER,
        short_names=("cluster",),
        categories=("fleet", "fleet-cluster"),
        columns=(
            condition_column("Joined", "Joined"),
            AGE,
            Column(
                "Member-Agent-Last-Seen",
                '.status.agentStatus[?(@.type=="MemberAgent")].lastReceivedHeartbeat',
                type="date",
            ),
            Column("Node-Count", r".status.properties.kubernetes-fleet\.io/node-count.value"),
            Column("Available-CPU", ".status.resourceUsage.available.cpu"),
            Column("Available-Memory", ".status.resourceUsage.available.memory"),
            Column("Allocatable-CPU", ".status.resourceUsage.allocatable.cpu", priority=1),
            Column("Allocatable-Memory", ".status.resourceUsage.allocatable.memory", priority=1),
        ),
        rules=(CelRule("size(self.metadata.name) < 64", "metadata.name max length is 63"),),
    )

    api_version: str = MEMBER_CLUSTER.api_version
    kind: str = MEMBER_CLUSTER.kind
    spec: MemberClusterSpec
    """How the member takes part in the fleet."""
    status: MemberClusterStatus = Field(default_factory=MemberClusterStatus)
    """Observed state of the member."""
