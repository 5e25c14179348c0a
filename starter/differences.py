"""Differences between two snapshots of a placement's content, without the values of Secrets.

Pure: objects in, lines out.
"""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Final

import yaml

from hub import Json
from planning.envelopes import is_envelope
from planning.resource_order import identify


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


# -- values of Secrets ---------------------------------------------------------------------


HIDDEN: Final = "(hidden)"
CHANGED: Final = "(hidden, changed)"
_WHOLE_COPY: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation in which kubectl keeps the whole object, including the values."""


def hidden(resource: Json, *, before: Json | None = None) -> Json:
    """Return the object without the values of Secrets, whether it is one or an envelope with some.

    With `before`, the same object in an earlier snapshot, values that differ are marked as changed.
    """
    if "apiVersion" in resource and is_envelope(resource):
        old = (before or {}).get("data") or {}
        held = (resource.get("data") or {}).items()
        return resource | {"data": {key: hidden(each, before=old.get(key)) for key, each in held}}
    # An object inside an envelope may be malformed.
    if (resource.get("apiVersion", "v1"), resource.get("kind")) == ("v1", "Secret"):
        return _hidden_secret(resource, before)
    return resource


def _hidden_secret(secret: Json, before: Json | None) -> Json:
    shown = dict(secret)
    for field in ("data", "stringData"):
        if values := secret.get(field):
            shown[field] = _hidden_values(values, (before or {}).get(field) if before else values)
    metadata = secret.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if _WHOLE_COPY in annotations:
        shown["metadata"] = metadata | {"annotations": annotations | {_WHOLE_COPY: HIDDEN}}
    return shown


def _hidden_values(values: Json, before: Json | None) -> Json:
    old = before or {}
    return {key: HIDDEN if old.get(key) == value else CHANGED for key, value in values.items()}
