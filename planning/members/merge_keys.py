"""By which field the items of a list are told apart when two versions of an object are merged.

The same lists as in the `patchMergeKey` tags of Kubernetes' own types, which are fixed for good:
a client-side apply would break if one of them changed. Custom resources have none, and their
lists are replaced as a whole.

contract: placement 8 (client-side apply)
"""

from collections.abc import Sequence
from typing import Final

_BUILT_IN_GROUPS: Final = frozenset({"", "apps", "autoscaling", "batch", "extensions", "policy"})
_BUILT_IN_SUFFIX: Final = ".k8s.io"
_NOT_MERGED: Final = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups that clients of Kubernetes treat like custom resources."""

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
"""Fields of which one part excludes the others: what is not asked for must not stay."""

Path = Sequence[str]
"""Names of the fields from the top of the object down; positions in lists are left out."""


def is_merged(group: str) -> bool:
    """Whether objects of the API group have lists that are merged item by item."""
    if group in _NOT_MERGED:
        return False
    return group in _BUILT_IN_GROUPS or group.endswith(_BUILT_IN_SUFFIX)


def key_of(path: Path) -> str:
    """Field that tells the items of the list at a path apart; empty when none does."""
    field = path[-1]
    return _KEYS_BY_PARENT.get((_parent(path), field)) or _KEYS_BY_FIELD.get(field, "")


def is_set(path: Path) -> bool:
    """Whether the list at a path is a set of plain values, to which others may add theirs."""
    return tuple(path) == ("metadata", "finalizers")


def is_exclusive(path: Path) -> bool:
    """Whether the parts of the object at a path exclude each other, as the sources of a volume."""
    return (_parent(path), path[-1] if path else "") in _EXCLUSIVE


def _parent(path: Path) -> str:
    return path[-2] if len(path) > 1 else ""
