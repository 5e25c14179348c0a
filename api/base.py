"""What all objects share: how they travel, their metadata, their conditions."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from api.markers import (
    EmbeddedResource,
    MapList,
    Required,
    Resource,
    max_length,
    min_length,
    minimum,
    pattern,
    value_format,
)


def _to_utc_seconds(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(microsecond=0)


def format_time(moment: datetime) -> str:
    """Write a moment as Kubernetes does: RFC 3339, UTC, whole seconds."""
    return _to_utc_seconds(moment).strftime("%Y-%m-%dT%H:%M:%SZ")


Time = Annotated[
    datetime,
    AfterValidator(_to_utc_seconds),
    PlainSerializer(format_time, return_type=str, when_used="json"),
    value_format("date-time"),
]
"""A moment in UTC. Objects know whole seconds only, so fractions are dropped on the way in."""
Int32 = Annotated[int, value_format("int32")]
Int64 = Annotated[int, value_format("int64")]
Manifest = Annotated[dict[str, Any], EmbeddedResource()]
"""Any Kubernetes object as it is on the wire."""

EnumT = TypeVar("EnumT", bound=StrEnum)
Open = Annotated[EnumT | str, Field(union_mode="left_to_right")]
"""An enumeration that the API server does not enforce: unknown values stay strings."""


class ApiModel(BaseModel):
    """Any part of an object.

    On the wire names are camelCase, in Python snake_case. Fields that the model does not
    know are kept and written back. A field that nobody set is left out while it still has
    its default and that default says nothing (None, false, 0, empty).
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="allow",
    )

    _silent: ClassVar[tuple[tuple[str, str, Any], ...]] = ()
    """Fields that are left out while unset: name, name on the wire, default."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Find the fields that may be left out."""
        super().__pydantic_init_subclass__(**kwargs)
        cls._silent = tuple(_silent_fields(cls.model_fields))

    @model_serializer(mode="wrap")
    def _leave_out_the_unsaid(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name, wire_name, default in self._silent:
            if name not in self.model_fields_set and getattr(self, name) == default:
                written.pop(wire_name, None)
        return written

    @classmethod
    def from_wire(cls, body: Mapping[str, Any]) -> Self:
        """Read what the API server sent; raises pydantic's ValidationError."""
        return cls.model_validate(body)

    def to_wire(self) -> dict[str, Any]:
        """Write what the API server reads. Lists that were set stay, even when empty."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _silent_fields(fields: Mapping[str, FieldInfo]) -> Iterator[tuple[str, str, Any]]:
    for name, info in fields.items():
        if info.is_required() or any(isinstance(each, Required) for each in info.metadata):
            continue
        default = info.get_default(call_default_factory=True, validated_data={})
        if not default or isinstance(default, ApiModel):
            yield name, info.serialization_alias or name, default


class FrozenModel(ApiModel):
    """A part that is replaced as a whole, never changed in memory."""

    model_config = ConfigDict(frozen=True)


class OwnerReference(ApiModel):
    """Points at the object whose deletion deletes this one."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(ApiModel):
    """What the API server keeps about every object."""

    name: str = ""
    namespace: str = ""
    """Empty for a cluster-scoped object."""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    """Moves with every change of the spec."""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: list[str] = Field(default_factory=list)
    owner_references: list[OwnerReference] = Field(default_factory=list)


class KubernetesObject(ApiModel):
    """An object of its own, with a name."""

    resource: ClassVar[Resource]
    """How the API server serves the kind; set by the concrete kinds."""

    api_version: str
    kind: str
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)


class ConditionStatus(StrEnum):
    """Whether a condition holds."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


_QUALIFIED_NAME = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)


class Condition(ApiModel):
    """One aspect of an object's state."""

    type: Annotated[str, pattern(_QUALIFIED_NAME), max_length(316)]
    """Which aspect."""
    status: ConditionStatus
    """Whether the condition holds: True, False or Unknown."""
    observed_generation: Annotated[Int64, minimum(0)] = 0
    """The metadata.generation that the condition was set for."""
    last_transition_time: Time
    """When status last changed."""
    reason: Annotated[
        str,
        pattern(r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"),
        min_length(1),
        max_length(1024),
    ]
    """Why, as one word for programs."""
    message: Annotated[str, max_length(32768)]
    """Why, as a sentence for people."""


Conditions = Annotated[list[Condition], MapList("type")]
"""Conditions that several writers may own, each its types."""


class NamespacedName(ApiModel):
    """Points at an object in a namespace."""

    name: str
    """Name of the object."""
    namespace: str
    """Namespace of the object."""
