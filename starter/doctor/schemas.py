"""Differences between a CRD on the hub and that of this version of fleetgate. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

Json = Mapping[str, Any]


class Way(StrEnum):
    """How a part of a CRD differs."""

    LACKS = "lacks"
    """The hub does not have it and would drop what fleetgate writes there."""
    KNOWS_MORE = "also has"
    """Only the hub has it, from a newer fleetgate or another system."""
    DIFFERS = "differs in"


@dataclass(frozen=True, slots=True)
class Difference:
    """One part that differs."""

    way: Way
    path: str
    """Where, such as `spec.stages[].name` or `v1beta1 served`."""


_INSIDE: Final = ("items", "additionalProperties")
_NO_MATTER: Final = frozenset({"description", "properties", *_INSIDE})
"""Parts of a schema that are compared separately, or that only people read."""
_OF_A_VERSION: Final = ("served", "storage", "subresources")


def differences(built: Json, installed: Json) -> Iterator[Difference]:
    """Yield the differences between two CRDs, ignoring descriptions and printer columns.

    Fields are compared only for the stored version, which fleetgate writes.
    """
    for part in ("group", "scope"):
        if built["spec"][part] != installed["spec"].get(part):
            yield Difference(Way.DIFFERS, part)
    there = {each["name"]: each for each in installed["spec"]["versions"]}
    for version in built["spec"]["versions"]:
        name = version["name"]
        if name in there:
            yield from _version(name, version, there[name])
        else:
            yield Difference(Way.LACKS, f"version {name}")


def _version(name: str, built: Json, installed: Json) -> Iterator[Difference]:
    for part in _OF_A_VERSION:
        if built.get(part) != installed.get(part):
            yield Difference(Way.DIFFERS, f"{name} {part}")
    if built["storage"]:
        yield from _schema(_of(built), _of(installed), "")


def _of(version: Json) -> Json:
    schema: Json = version.get("schema", {}).get("openAPIV3Schema", {})
    return schema


def _schema(built: Json, installed: Json, path: str) -> Iterator[Difference]:
    ours, theirs = built.get("properties", {}), installed.get("properties", {})
    for name in sorted({*ours, *theirs}):
        inner = f"{path}.{name}" if path else name
        if name not in theirs:
            yield Difference(Way.LACKS, inner)
        elif name not in ours:
            yield Difference(Way.KNOWS_MORE, inner)
        else:
            yield from _schema(ours[name], theirs[name], inner)
    for name in _INSIDE:
        yield from _inside(built.get(name), installed.get(name), f"{path}[]")
    if _rules(built) != _rules(installed):
        yield Difference(Way.DIFFERS, path)


def _inside(built: object, installed: object, path: str) -> Iterator[Difference]:
    if isinstance(built, Mapping) and isinstance(installed, Mapping):
        yield from _schema(built, installed, path)
    elif built != installed:
        yield Difference(Way.DIFFERS, path)


def _rules(schema: Json) -> dict[str, Any]:
    """Return the rules for a value itself, without those for the values inside it."""
    return {name: value for name, value in schema.items() if name not in _NO_MATTER}
