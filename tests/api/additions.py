"""Comparison of CRDs: what a newer one breaks for users of the older one.

A valid object has to stay valid, and clients must still find every field and column that they read.
So a CRD may only grow: new kinds, versions, optional fields, values and columns; fewer and wider
limits.
"""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_FLOORS = ("minLength", "minimum", "minItems", "minProperties")
_CEILINGS = ("maxLength", "maximum", "maxItems", "maxProperties")
_FIXED = (
    "type",
    "format",
    "default",
    "anyOf",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
)
"""Keywords that must not change, because the meaning of the field would change."""


def breaks(old: Json, new: Json) -> list[str]:
    """Return what `new` breaks compared with `old`, both the `spec` of a CRD; one sentence each."""
    return [*_names(old, new), *_versions(old, new)]


def _names(old: Json, new: Json) -> Iterator[str]:
    for what in ("group", "scope"):
        if old[what] != new[what]:
            yield f"{what} was {old[what]} and is {new[what]}"
    for what in ("kind", "listKind", "plural", "singular"):
        if old["names"][what] != new["names"][what]:
            yield f"{what} was {old['names'][what]} and is {new['names'][what]}"
    for what in ("shortNames", "categories"):
        for gone in _gone(old["names"].get(what, []), new["names"].get(what, [])):
            yield f"{what} has no {gone} any more"


def _versions(old: Json, new: Json) -> Iterator[str]:
    now = {each["name"]: each for each in new["versions"]}
    for before in old["versions"]:
        name = before["name"]
        after = now.get(name)
        if after is None:
            yield f"version {name} is gone"
            continue
        for what in ("served", "storage"):
            if before[what] and not after[what]:
                yield f"version {name} is not {what} any more"
        for gone in _gone(before.get("subresources", {}), after.get("subresources", {})):
            yield f"{name} has no subresource {gone} any more"
        yield from (f"{name}: {each}" for each in _columns(before, after))
        schemas = (each["schema"]["openAPIV3Schema"] for each in (before, after))
        yield from (f"{name}: {each}" for each in _narrowed(*schemas))


def _columns(old: Json, new: Json) -> Iterator[str]:
    now = {each["name"]: each for each in new.get("additionalPrinterColumns", [])}
    for column in old.get("additionalPrinterColumns", []):
        name = column["name"]
        if name not in now:
            yield f"column {name} is gone"
        elif now[name]["jsonPath"] != column["jsonPath"]:
            yield f"column {name} shows another field"


def _narrowed(old: Json, new: Json, path: str = "") -> Iterator[str]:
    where = path or "the object"
    yield from (f"{where}: {each}" for each in _limits(old, new))
    for name, field in old.get("properties", {}).items():
        below = new.get("properties", {}).get(name)
        if below is None:
            yield f"{path}.{name} is gone"
        else:
            yield from _narrowed(field, below, f"{path}.{name}")
    for part, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if part in old and part not in new:
            yield f"{path}{mark} is gone"
        elif part in old:
            yield from _narrowed(old[part], new[part], f"{path}{mark}")


def _limits(old: Json, new: Json) -> Iterator[str]:
    for key in _FIXED:
        if old.get(key) != new.get(key):
            yield _changed(key, old, new)
    for key in _FLOORS:
        if key in new and new[key] > old.get(key, float("-inf")):
            yield _changed(key, old, new)
    for key in _CEILINGS:
        if key in new and new[key] < old.get(key, float("inf")):
            yield _changed(key, old, new)
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield _changed("pattern", old, new)
    yield from _demands(old, new)


def _demands(old: Json, new: Json) -> Iterator[str]:
    if "enum" in new and "enum" not in old:
        yield f"only {', '.join(map(str, new['enum']))} are allowed now"
    for gone in _gone(old.get("enum", []), new.get("enum", old.get("enum", []))):
        yield f"value {gone} is gone"
    for name in _gone(new.get("required", []), old.get("required", [])):
        yield f"{name} is required now"
    rules = [each["rule"] for each in old.get("x-kubernetes-validations", [])]
    for rule in new.get("x-kubernetes-validations", []):
        if rule["rule"] not in rules:
            yield f"a new rule: {rule.get('message', rule['rule'])}"


def _changed(key: str, old: Json, new: Json) -> str:
    return f"{key} was {old.get(key, 'nothing')} and is {new.get(key, 'nothing')}"


def _gone(old: Any, new: Any) -> list[Any]:
    return [each for each in old if each not in new]
