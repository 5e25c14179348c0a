"""What the API server checks or fills in, written next to the field it is about.

These markers are metadata of `typing.Annotated`. The models ignore them: whoever reads an
object from the API server may rely on the server's checks. Only the generator of the CRD
files (`api.crds`) turns them into schema.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from api.kinds import Kind

Schema = dict[str, Any]
"""A structural OpenAPI v3 schema, or a part of one."""


@runtime_checkable
class Marker(Protocol):
    """Adds its constraint to the schema of the field it stands at."""

    def mark(self, schema: Schema) -> None:
        """Change `schema` in place."""


@dataclass(frozen=True, slots=True)
class CelRule:
    """A rule in the Common Expression Language and what a user reads when it is broken."""

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
    """Any one keyword of the schema with its value."""

    name: str
    value: Any

    def mark(self, schema: Schema) -> None:
        """Set the keyword."""
        schema[self.name] = self.value


def immutable(message: str) -> CelRule:
    """The value may not change once it is there."""
    return CelRule("self == oldSelf", message)


def pattern(regex: str) -> Keyword:
    """Strings must match (RE2, not anchored by itself)."""
    return Keyword("pattern", regex)


def min_length(length: int) -> Keyword:
    """Strings have at least this many characters."""
    return Keyword("minLength", length)


def max_length(length: int) -> Keyword:
    """Strings have at most this many characters."""
    return Keyword("maxLength", length)


def minimum(value: int) -> Keyword:
    """Numbers are at least this."""
    return Keyword("minimum", value)


def maximum(value: int) -> Keyword:
    """Numbers are at most this."""
    return Keyword("maximum", value)


def min_items(count: int) -> Keyword:
    """Lists have at least this many items."""
    return Keyword("minItems", count)


def max_items(count: int) -> Keyword:
    """Lists have at most this many items."""
    return Keyword("maxItems", count)


def min_properties(count: int) -> Keyword:
    """Maps have at least this many entries."""
    return Keyword("minProperties", count)


def max_properties(count: int) -> Keyword:
    """Maps have at most this many entries."""
    return Keyword("maxProperties", count)


def value_format(name: str) -> Keyword:
    """A named format: int32, int64, date-time, byte."""
    return Keyword("format", name)


class Defaulted:
    """The API server fills in the model's default when the field is absent."""


class Required:
    """The API server wants the field although the model has a default for it."""


@dataclass(frozen=True, slots=True)
class MapList:
    """Two writers may each own their items of the list: server-side apply merges by `key`."""

    key: str

    def mark(self, schema: Schema) -> None:
        """Set list type and map key."""
        schema["x-kubernetes-list-type"] = "map"
        schema["x-kubernetes-list-map-keys"] = [self.key]


@dataclass(frozen=True, slots=True)
class Atomic:
    """Server-side apply replaces the list or the object as a whole."""

    def mark(self, schema: Schema) -> None:
        """Set the list or the map type."""
        of = "list" if schema["type"] == "array" else "map"
        schema[f"x-kubernetes-{of}-type"] = "atomic"


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """Any Kubernetes object, kept whole."""

    def mark(self, schema: Schema) -> None:
        """Keep all fields; apiVersion, kind and metadata are checked."""
        schema.clear()
        schema["type"] = "object"
        schema["x-kubernetes-embedded-resource"] = True
        schema["x-kubernetes-preserve-unknown-fields"] = True


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Whatever it holds is kept; of an object only that it is one is checked."""

    def mark(self, schema: Schema) -> None:
        """Keep all fields."""
        schema.pop("additionalProperties", None)
        schema["x-kubernetes-preserve-unknown-fields"] = True


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; with priority 1 only of `kubectl get -o wide`."""

    name: str
    json_path: str
    type: str = "string"
    priority: int = 0


AGE = Column("Age", ".metadata.creationTimestamp", type="date")


def condition_column(name: str, condition: str, *, wide: bool = False) -> Column:
    """Show the status of one condition."""
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
    """Served with the same schema besides the storage version (decision 16)."""
    has_status: bool = True
    """Whether status is a subresource of its own."""
    rules: tuple[CelRule, ...] = field(default=())
    """Rules over the whole object."""
