"""The order in which the manifests of a Work are applied on a member: in waves.

Namespaces come before the objects in them, configuration before the workloads that read it.
Within a wave the order does not matter, so an agent may apply its manifests in parallel.

contract: placement 8 (apply order)
"""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from api.kinds import Kind

Item = TypeVar("Item")

LAST_WAVE: Final = 999
"""Wave of every kind that is not listed here, mostly custom resources."""

_PLURALS_BY_WAVE: Final = (
    ("namespaces", "priorityclasses"),
    (
        "networkpolicies",
        "resourcequotas",
        "limitranges",
        "podsecuritypolicies",
        "poddisruptionbudgets",
        "serviceaccounts",
        "secrets",
        "configmaps",
        "storageclasses",
        "persistentvolumes",
        "persistentvolumeclaims",
        "customresourcedefinitions",
        "ingressclasses",
    ),
    ("clusterroles", "roles"),
    ("clusterrolebindings", "rolebindings"),
    (
        "services",
        "daemonsets",
        "pods",
        "replicationcontrollers",
        "replicasets",
        "deployments",
        "horizontalpodautoscalers",
        "statefulsets",
        "jobs",
        "cronjobs",
        "ingresses",
    ),
    ("apiservices", "validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
)
_WAVE_BY_PLURAL: Final = {
    plural: wave for wave, plurals in enumerate(_PLURALS_BY_WAVE) for plural in plurals
}

_BUILT_IN_GROUPS: Final = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
"""Needed because a plural is not unique: a custom resource may be called `services` too."""


def wave_of(kind: Kind | None) -> int:
    """Return the wave in which objects of the kind are applied; None is an unserved kind."""
    if kind is None or kind.group not in _BUILT_IN_GROUPS:
        return LAST_WAVE
    return _WAVE_BY_PLURAL.get(kind.plural, LAST_WAVE)


def waves(items: Iterable[Item], *, kind_of: Callable[[Item], Kind | None]) -> list[list[Item]]:
    """Group items by wave, first wave first; within a wave they keep their order."""
    grouped: dict[int, list[Item]] = {}
    for item in items:
        grouped.setdefault(wave_of(kind_of(item)), []).append(item)
    return [grouped[wave] for wave in sorted(grouped)]
