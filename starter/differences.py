"""Differences between two snapshots of a placement's content. Pure: objects in, lines out."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff

import yaml

from hub import Json
from planning.resource_order import identify
from starter.secrecy import hidden


def between(
    old: Sequence[Json], new: Sequence[Json], *, labels: tuple[str, str] = ("now", "then")
) -> list[str]:
    """Return the unified diff of all objects that were added, removed or changed, as lines.

    For Secrets it shows only which values change. `labels` name the two sides.
    """
    pairs = _pairs(old, new)
    return [line for name, *pair in pairs for line in _diff(name, *pair, labels=labels)]


def summary(old: Sequence[Json], new: Sequence[Json]) -> list[str]:
    """Return one line for each object that was added, removed or changed."""
    return [_verb(before, after) + name for name, before, after in _pairs(old, new)]


def title(resource: Json) -> str:
    """Return `Deployment my-app/web`, with the group of the kind if it is not a built-in one."""
    found = identify(resource)
    where = f"{found.namespace}/" if found.namespace else ""
    kind = f"{found.kind}.{found.group}" if "." in found.group else found.kind
    return f"{kind} {where}{found.name}"


def _pairs(
    old: Sequence[Json], new: Sequence[Json]
) -> Iterator[tuple[str, Json | None, Json | None]]:
    before = {title(each): each for each in old}
    after = {title(each): each for each in new}
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield name, before.get(name), after.get(name)


def _verb(before: Json | None, after: Json | None) -> str:
    if before is None:
        return "+ "
    return "- " if after is None else "~ "


def _diff(
    name: str, before: Json | None, after: Json | None, *, labels: tuple[str, str]
) -> Iterator[str]:
    old, new = (f"{label} {name}" for label in labels)
    after = hidden(after, before=before) if after else None
    before = hidden(before) if before else None
    yield from unified_diff(_lines(before), _lines(after), old, new, lineterm="")


def _lines(resource: Json | None) -> list[str]:
    return yaml.safe_dump(resource).splitlines() if resource is not None else []
