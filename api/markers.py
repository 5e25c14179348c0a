"""Markers of what the API server validates or defaults, next to the field they apply to.

The markers are metadata of `typing.Annotated`. The models ignore them, because the API server
has already validated every object that it returns. Only the generator of the CRD files
(`api.crds`) turns them into schema.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from api.kinds import Kind

Schema = dict[str, Any]
"""A structural OpenAPI v3 schema, or a part of one."""


@runtime_checkable
class Marker(Protocol):
    """A constraint on the schema of the annotated field."""

    def mark(self, schema: Schema) -> None:
        """Change `schema` in place."""


@dataclass(frozen=True, slots=True)
class CelRule:
    """A rule in the Common Expression Language, and the message for objects that break it."""

    rule: str
    message: str

    def mark(self, schema: Schema) -> None:
        """Append the rule."""
        rules = schema.setdefault("x-kubernetes-validations", [])
        rules.append({"rule": self.rule, "message": self.message})


@dataclass(frozen=True, slots=True)
class CelRules:
    """Several rules that belong together."""

    rules: tuple[CelRule, ...]

    def mark(self, schema: Schema) -> None:
        """Append the rules."""
        for rule in self.rules:
            rule.mark(schema)


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword of the schema and its value."""

    name: str
    value: Any

    def mark(self, schema: Schema) -> None:
        """Set the keyword."""
        schema[self.name] = self.value


def immutable(message: str) -> CelRule:
    """Forbid changing the value once it is set."""
    return CelRule("self == oldSelf", message)


def pattern(regex: str) -> Keyword:
    """Require strings to match `regex` (RE2, not anchored)."""
    return Keyword("pattern", regex)


def min_length(length: int) -> Keyword:
    """Require strings of at least this many characters."""
    return Keyword("minLength", length)


def max_length(length: int) -> Keyword:
    """Require strings of at most this many characters."""
    return Keyword("maxLength", length)


def minimum(value: int) -> Keyword:
    """Require numbers of at least this value."""
    return Keyword("minimum", value)


def maximum(value: int) -> Keyword:
    """Require numbers of at most this value."""
    return Keyword("maximum", value)


def min_items(count: int) -> Keyword:
    """Require lists of at least this many items."""
    return Keyword("minItems", count)


def max_items(count: int) -> Keyword:
    """Require lists of at most this many items."""
    return Keyword("maxItems", count)


def min_properties(count: int) -> Keyword:
    """Require maps of at least this many entries."""
    return Keyword("minProperties", count)


def max_properties(count: int) -> Keyword:
    """Require maps of at most this many entries."""
    return Keyword("maxProperties", count)


def one_of(values: type[StrEnum]) -> Keyword:
    """Allow only these strings; in Python others are read as well."""
    return Keyword("enum", [str(each) for each in values])


def value_format(name: str) -> Keyword:
    """Set a named format: int32, int64, date-time or byte."""
    return Keyword("format", name)


class Defaulted:
    """Marker of a field that the API server sets to the model's default when it is absent."""


class Required:
    """Marker of a field that the API server requires although the model has a default for it."""


@dataclass(frozen=True, slots=True)
class MapList:
    """A list that server-side apply merges by `key`, so that several writers can own items."""

    key: str

    def mark(self, schema: Schema) -> None:
        """Set the list type and the map key."""
        schema["x-kubernetes-list-type"] = "map"
        schema["x-kubernetes-list-map-keys"] = [self.key]


@dataclass(frozen=True, slots=True)
class Atomic:
    """A list or an object that server-side apply replaces as a whole."""

    def mark(self, schema: Schema) -> None:
        """Set the list type or the map type."""
        of = "list" if schema["type"] == "array" else "map"
        schema[f"x-kubernetes-{of}-type"] = "atomic"


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """Any Kubernetes object, kept whole."""

    def mark(self, schema: Schema) -> None:
        """Keep all fields; the API server validates apiVersion, kind and metadata."""
        schema.clear()
        schema["type"] = "object"
        schema["x-kubernetes-embedded-resource"] = True
        schema["x-kubernetes-preserve-unknown-fields"] = True


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A value whose content is kept unvalidated, except that an object must be an object."""

    def mark(self, schema: Schema) -> None:
        """Keep all fields."""
        schema.pop("additionalProperties", None)
        schema["x-kubernetes-preserve-unknown-fields"] = True


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; with priority 1, only of `kubectl get -o wide`."""

    name: str
    json_path: str
    type: str = "string"
    priority: int = 0


AGE = Column("Age", ".metadata.creationTimestamp", type="date")


def condition_column(name: str, condition: str, *, wide: bool = False) -> Column:
    """Return a column that shows the status of one condition."""
    path = f'.status.conditions[?(@.type=="{condition}")].status'
    return Column(name, path, priority=int(wide))


@dataclass(frozen=True, slots=True)
class Resource:
    """How the API server serves a kind, apart from its schema.

    contract: update-runs 1, placement 1
    """

    kind: Kind
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ("fleet", "fleet-placement")
    columns: tuple[Column, ...] = ()
    other_versions: tuple[str, ...] = ("v1",)
    """Versions served besides the storage version, with the same schema (contract decision 16)."""
    has_status: bool = True
    """Whether status is a subresource."""
    rules: tuple[CelRule, ...] = field(default=())
    """Rules over the whole object."""
