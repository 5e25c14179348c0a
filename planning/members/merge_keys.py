"""Merge keys: the fields that identify the items of a list when versions of an object are merged.

They mirror the `patchMergeKey` tags of Kubernetes' own types, which never change: that would break
client-side apply. Custom resources have none, and their lists are replaced as a whole.

contract: placement 8 (client-side apply)
"""

from collections.abc import Sequence
from typing import Final

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

Path = Sequence[str]
"""Names of the fields from the top of the object down; positions in lists are left out."""


def is_merged(group: str) -> bool:
    """Return whether objects of the API group have lists that are merged item by item."""
    if group in _NOT_MERGED:
        return False
    return group in _BUILT_IN_GROUPS or group.endswith(_BUILT_IN_SUFFIX)


def key_of(path: Path) -> str:
    """Return the field that identifies the items of the list at a path; empty if there is none."""
    field = path[-1]
    return _KEYS_BY_PARENT.get((_parent(path), field)) or _KEYS_BY_FIELD.get(field, "")


def is_set(path: Path) -> bool:
    """Return whether the list at a path is a set of plain values that others may add to."""
    return tuple(path) == ("metadata", "finalizers")


def is_exclusive(path: Path) -> bool:
    """Return whether the parts of the object at a path exclude each other, like volume sources."""
    return (_parent(path), path[-1] if path else "") in _EXCLUSIVE


def _parent(path: Path) -> str:
    return path[-2] if len(path) > 1 else ""
