"""Client-side apply: merging a new manifest into an object.

Three versions are compared: the manifest applied last, the manifest to apply, and the live object.
Fields that only the first has are removed, fields of the second are set, and the rest of the third
belongs to other writers and stays. In objects of built-in kinds, some lists are merged item by
item: the merge keys are the fields that identify their items.

contract: placement 8 (client-side apply)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Json = Mapping[str, Any]
_Path = tuple[str, ...]
"""Names of the fields from the top of the object down; positions in lists are left out."""


def merged(live: Json, *, last: Json, wanted: Json, group: str) -> dict[str, Any]:
    """Return the object as it should be.

    Args:
        live: the object as it is on the member.
        last: the manifest that was applied last; empty if unknown.
        wanted: the manifest to apply.
        group: API group of the object; some lists of built-in kinds are merged item by item.
    """
    return _Merge(by_key=_is_merged(group)).objects((), last, wanted, live)


def patch(live: Json, desired: Json) -> dict[str, Any]:
    """Return the JSON merge patch (RFC 7386) from one object to the other; empty if equal."""
    removed = {name: None for name in live if name not in desired}
    changed = {
        name: _change(live.get(name), value)
        for name, value in desired.items()
        if name not in live or not _is_same(live[name], value)
    }
    return removed | changed


def _change(live: object, desired: object) -> object:
    if isinstance(desired, Mapping):
        return patch(live if isinstance(live, Mapping) else {}, desired)
    return desired


def _is_same(one: object, other: object) -> bool:
    # In Python True equals 1; for an API server they differ.
    return type(one) is type(other) and bool(one == other)


class _Merge:
    def __init__(self, *, by_key: bool) -> None:
        self._by_key = by_key

    def objects(self, path: _Path, last: Json, wanted: Json, live: Json) -> dict[str, Any]:
        asked = {name: value for name, value in wanted.items() if value is not None}
        result = {name: value for name, value in live.items() if name in asked or name not in last}
        for name, value in asked.items():
            result[name] = self._value((*path, name), last.get(name), value, live.get(name))
        if self._by_key and _is_exclusive(path) and result != live:
            return {name: value for name, value in result.items() if name in asked}
        return result

    def _value(self, path: _Path, last: object, wanted: object, live: object) -> object:
        if isinstance(wanted, Mapping):
            return self.objects(path, _object(last), wanted, _object(live))
        if isinstance(wanted, list) and self._by_key:
            return self._list(path, _list(last), wanted, _list(live))
        return wanted

    def _list(self, path: _Path, last: list[Any], wanted: list[Any], live: list[Any]) -> list[Any]:
        if _is_set(path):
            others = [each for each in live if each not in last and each not in wanted]
            return [*wanted, *others]
        key = _key_of(path)
        if not key or not all(_is_keyed(each, key) for each in (last, wanted, live)):
            return wanted
        return self._items(path, key, last, wanted, live)

    def _items(
        self, path: _Path, key: str, last: list[Json], wanted: list[Json], live: list[Json]
    ) -> list[Any]:
        before, there = _by(key, last), _by(key, live)
        fresh = [
            self.objects(path, before.get(each[key], {}), each, there.get(each[key], {}))
            for each in wanted
        ]
        asked = _by(key, fresh)
        kept = [each for each in live if each[key] in asked or each[key] not in before]
        # Wanted items fill the places of wanted items, in their own order: items of other writers
        # before or between them stay where they are.
        known = iter([each for each in fresh if each[key] in there])
        placed = [next(known) if each[key] in asked else each for each in kept]
        return placed + [each for each in fresh if each[key] not in there]


def _object(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _by(key: str, items: Sequence[Json]) -> dict[Any, Json]:
    return {each[key]: each for each in items}


def _is_keyed(items: Sequence[Any], key: str) -> bool:
    """Return whether every item has the key, with a value of its own."""
    if not all(isinstance(each, Mapping) and key in each for each in items):
        return False
    return len(_by(key, items)) == len(items)


# -- merge keys ---------------------------------------------------------------------------
#
# They mirror the `patchMergeKey` tags of Kubernetes' own types, which never change: that would
# break client-side apply. Custom resources have none, and their lists are replaced as a whole.

_BUILT_IN_GROUPS: Final = frozenset({"", "apps", "autoscaling", "batch", "extensions", "policy"})
_BUILT_IN_SUFFIX: Final = ".k8s.io"
_NOT_MERGED: Final = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups that Kubernetes clients treat like custom resources."""

_KEYS_BY_FIELD: Final = {
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
_KEYS_BY_PARENT: Final = {
    # The rules of a NetworkPolicy have lists of this name too, and those are not merged.
    ("containers", "ports"): "containerPort",
    ("ephemeralContainers", "ports"): "containerPort",
    ("initContainers", "ports"): "containerPort",
    ("spec", "ports"): "port",
}
_EXCLUSIVE: Final = frozenset({("spec", "strategy"), ("spec", "volumes")})
"""Fields whose parts exclude each other: a part that is no longer wanted must be removed."""


def _is_merged(group: str) -> bool:
    """Return whether objects of the API group have lists that are merged item by item."""
    if group in _NOT_MERGED:
        return False
    return group in _BUILT_IN_GROUPS or group.endswith(_BUILT_IN_SUFFIX)


def _key_of(path: _Path) -> str:
    """Return the field that identifies the items of the list at a path; empty if there is none."""
    field = path[-1]
    return _KEYS_BY_PARENT.get((_parent(path), field)) or _KEYS_BY_FIELD.get(field, "")


def _is_set(path: _Path) -> bool:
    """Return whether the list at a path is a set of plain values that others may add to."""
    return path == ("metadata", "finalizers")


def _is_exclusive(path: _Path) -> bool:
    """Return whether the parts of the object at a path exclude each other, like volume sources."""
    return (_parent(path), path[-1] if path else "") in _EXCLUSIVE


def _parent(path: _Path) -> str:
    return path[-2] if len(path) > 1 else ""
