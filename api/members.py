"""Member clusters: who is in the fleet, and how they are.

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


class Subject(FrozenModel):
    """Who a member is to the hub's access control."""

    kind: str
    """User, Group or ServiceAccount."""
    api_group: str = ""
    """API group of the subject; empty for a ServiceAccount."""
    name: str
    """Name of the subject."""
    namespace: str = ""
    """Namespace of a ServiceAccount."""


class Taint(FrozenModel):
    """Keeps placements off a member unless they tolerate it."""

    key: str
    """Key of the taint."""
    value: str = ""
    """Value of the taint."""
    effect: TaintEffect
    """What the taint does; only NoSchedule."""


class DeleteValidationMode(StrEnum):
    """Whether a member may leave while something is still placed on it."""

    SKIP = "Skip"
    STRICT = "Strict"


class DeleteOptions(FrozenModel):
    """How a member leaves the fleet."""

    validation_mode: Annotated[DeleteValidationMode, Defaulted()] = DeleteValidationMode.STRICT
    """Strict refuses to leave while something is still placed on the member."""


class MemberClusterSpec(ApiModel):
    """How a member takes part in the fleet."""

    identity: Annotated[Subject, Atomic()]
    """Who the member's agent is to the hub."""
    heartbeat_period_seconds: Annotated[Int32, minimum(1), maximum(600), Defaulted()] = 60
    """How often the agent says that it is alive."""
    taints: Annotated[list[Taint], max_items(100)] = Field(default_factory=list)
    """Keep placements off that do not tolerate them."""
    delete_options: DeleteOptions | None = None
    """How the member leaves."""


class PropertyValue(ApiModel):
    """A property of a member."""

    value: str
    """What was observed."""
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
    """What a member has and what is left."""

    capacity: Quantities = Field(default_factory=dict)
    """All there is."""
    allocatable: Quantities = Field(default_factory=dict)
    """What workloads may use."""
    available: Quantities = Field(default_factory=dict)
    """What is left."""
    observation_time: Time | None = None
    """When it was observed."""


class AgentType(StrEnum):
    """Which of a member's agents."""

    MEMBER_AGENT = "MemberAgent"


class AgentStatus(ApiModel):
    """How one agent of a member is."""

    type: Open[AgentType]
    """Which agent."""
    conditions: Conditions = Field(default_factory=list)
    """Joined and Healthy."""
    last_received_heartbeat: Time | None = None
    """When the agent last said that it is alive."""


class MemberClusterStatus(ApiModel):
    """How a member is."""

    conditions: Conditions = Field(default_factory=list)
    """ReadyToJoin, Joined and Healthy."""
    namespaces: dict[str, str] = Field(default_factory=dict)
    """Namespaces on the member, with the Work that owns each."""
    properties: dict[str, PropertyValue] = Field(default_factory=dict)
    """Properties that placements may select and sort by."""
    resource_usage: ResourceUsage = Field(default_factory=ResourceUsage)
    """What the member has and what is left."""
    agent_status: list[AgentStatus] = Field(default_factory=list)
    """How the member's agents are."""


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
    """How the member is."""
