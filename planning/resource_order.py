"""The identity of objects, and their order in a snapshot.

contract: placement 3 (order inside a snapshot)
"""

from dataclasses import dataclass
from typing import Any, Final

KINDS_IN_ORDER: Final = (
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
)
"""Kinds that others depend on come first."""

_RANKS: Final = {kind: rank for rank, kind in enumerate(KINDS_IN_ORDER)}


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of an object."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str

    @property
    def gvk(self) -> str:
        """Group, version and kind as Go prints them: `apps/v1, Kind=Deployment`."""
        return f"{self.group}/{self.version}, Kind={self.kind}"

    def __str__(self) -> str:
        """Format as in KubeFleet's messages."""
        return (
            f"{{Group:{self.group} Version:{self.version} Kind:{self.kind} Name:{self.name}"
            f" Namespace:{self.namespace} Envelope:<nil>}}"
        )


def identify(resource: dict[str, Any]) -> Identity:
    """Read the identity of an object from its wire form."""
    group, _, version = resource["apiVersion"].rpartition("/")
    metadata = resource["metadata"]
    return Identity(
        group, version, resource["kind"], metadata.get("namespace", ""), metadata.get("name", "")
    )


def position(resource: dict[str, Any]) -> tuple[int, str, str, str]:
    """Return the sort key of an object in a snapshot."""
    identity = identify(resource)
    rank = _RANKS.get(identity.kind, len(KINDS_IN_ORDER))
    unknown = "" if identity.kind in _RANKS else identity.gvk
    return rank, unknown, resource["apiVersion"], f"{identity.namespace}/{identity.name}"
