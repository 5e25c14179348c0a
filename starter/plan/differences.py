"""What differs between two versions of a placement's content. Pure: objects in, lines out."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff

import yaml

from hub import Json
from planning.resource_order import identify


def between(old: Sequence[Json], new: Sequence[Json]) -> list[str]:
    """Lines of a unified diff of all objects that were added, removed or changed."""
    return [line for name, before, after in _pairs(old, new) for line in _diff(name, before, after)]


def summary(old: Sequence[Json], new: Sequence[Json]) -> list[str]:
    """One line for each object that was added, removed or changed."""
    return [_verb(before, after) + name for name, before, after in _pairs(old, new)]


def _pairs(
    old: Sequence[Json], new: Sequence[Json]
) -> Iterator[tuple[str, Json | None, Json | None]]:
    before = {_name(each): each for each in old}
    after = {_name(each): each for each in new}
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield name, before.get(name), after.get(name)


def _name(resource: Json) -> str:
    """`Deployment my-app/web`, with the group where it is not a built-in one."""
    found = identify(resource)
    where = f"{found.namespace}/" if found.namespace else ""
    kind = f"{found.kind}.{found.group}" if "." in found.group else found.kind
    return f"{kind} {where}{found.name}"


def _verb(before: Json | None, after: Json | None) -> str:
    if before is None:
        return "+ "
    return "- " if after is None else "~ "


def _diff(name: str, before: Json | None, after: Json | None) -> list[str]:
    before, after = _hidden(before, None), _hidden(after, before)
    lines = unified_diff(_lines(before), _lines(after), "now " + name, "then " + name, lineterm="")
    return list(lines)


def _lines(resource: Json | None) -> list[str]:
    return yaml.safe_dump(resource).splitlines() if resource is not None else []


def _hidden(resource: Json | None, before: Json | None) -> Json | None:
    """A Secret without its values, but with a word where one changes."""
    if resource is None or (resource["apiVersion"], resource["kind"]) != ("v1", "Secret"):
        return resource
    shown = dict(resource)
    for field in ("data", "stringData"):
        old = (before or {}).get(field) or {}
        shown[field] = {
            key: "(hidden)" if before is None or old.get(key) == value else "(hidden, changed)"
            for key, value in (resource.get(field) or {}).items()
        }
    return shown
