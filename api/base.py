"""Base models of all objects: serialization, metadata and conditions."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
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
    """Format a time as Kubernetes does: RFC 3339, UTC, whole seconds."""
    return _to_utc_seconds(moment).strftime("%Y-%m-%dT%H:%M:%SZ")


Time = Annotated[
    datetime,
    AfterValidator(_to_utc_seconds),
    PlainSerializer(format_time, return_type=str, when_used="json"),
    value_format("date-time"),
]
"""A time in UTC. Kubernetes stores whole seconds, so fractions are dropped on input."""
Int32 = Annotated[int, value_format("int32")]
Int64 = Annotated[int, value_format("int64")]
Manifest = Annotated[dict[str, Any], EmbeddedResource()]
"""Any Kubernetes object in wire form."""

EnumT = TypeVar("EnumT", bound=StrEnum)
Open = Annotated[EnumT | str, Field(union_mode="left_to_right")]
"""An enumeration that the API server does not enforce: unknown values stay strings."""


class ApiModel(BaseModel):
    """Base of all models: an object, or a part of one.

    Names are camelCase on the wire and snake_case in Python. Unknown fields are kept and
    written back. A field that was never set is omitted while it has its default, if that
    default is empty (None, false, 0, an empty text, list or map) or a model.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="allow",
        # Most commands use few of the models, and building all of them takes longer than the rest.
        defer_build=True,
    )

    @model_serializer(mode="wrap")
    def _leave_out_the_unsaid(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name, wire_name, default in _silent_fields(type(self)):
            if name not in self.model_fields_set and getattr(self, name) == default:
                written.pop(wire_name, None)
        return written

    @classmethod
    def from_wire(cls, body: Mapping[str, Any]) -> Self:
        """Parse an object from the API server. Raises pydantic's ValidationError."""
        return cls.model_validate(body)

    def to_wire(self) -> dict[str, Any]:
        """Return the object in wire form. Lists that were set are kept, even when empty."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


@cache
def _silent_fields(model: type[ApiModel]) -> tuple[tuple[str, str, Any], ...]:
    """Return the fields that are omitted while unset: name, name on the wire, default."""
    return tuple(_silent(model.model_fields))


def _silent(fields: Mapping[str, FieldInfo]) -> Iterator[tuple[str, str, Any]]:
    for name, info in fields.items():
        if info.is_required() or any(isinstance(each, Required) for each in info.metadata):
            continue
        default = info.get_default(call_default_factory=True, validated_data={})
        if not default or isinstance(default, ApiModel):
            yield name, info.serialization_alias or name, default


class FrozenModel(ApiModel):
    """Base of models that are replaced as a whole, never changed in memory."""

    model_config = ConfigDict(frozen=True)


class OwnerReference(ApiModel):
    """A reference to an owner, whose deletion deletes this object."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(ApiModel):
    """Metadata that every object has."""

    name: str = ""
    namespace: str = ""
    """Empty for a cluster-scoped object."""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    """Incremented by the API server on every change of the spec."""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: list[str] = Field(default_factory=list)
    owner_references: list[OwnerReference] = Field(default_factory=list)


class KubernetesObject(ApiModel):
    """Base of the kinds: objects with a name of their own."""

    resource: ClassVar[Resource]
    """How the API server serves the kind; set by each concrete kind."""

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
    """Type of the condition: the aspect that it describes."""
    status: ConditionStatus
    """Whether the condition holds: True, False or Unknown."""
    observed_generation: Annotated[Int64, minimum(0)] = 0
    """The metadata.generation that the condition was set for."""
    last_transition_time: Time
    """When the status last changed."""
    reason: Annotated[
        str,
        pattern(r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"),
        min_length(1),
        max_length(1024),
    ]
    """Reason for the status, as one word for programs."""
    message: Annotated[str, max_length(32768)]
    """Explanation of the status, as a sentence for people."""


Conditions = Annotated[list[Condition], MapList("type")]
"""Conditions by type, so that each of several writers can own some of the types."""


class NamespacedName(ApiModel):
    """A reference to an object in a namespace."""

    name: str
    """Name of the object."""
    namespace: str
    """Namespace of the object."""
