"""The rights of the fleet's own worker on the hub: the shipped roles, plus a Lease for agents."""

from typing import Final

from deploy.installing import manifests
from hub import Hub, Json

NAMESPACE: Final = "fleetgate"
"""Namespace of the worker's account, and of the Leases by which workers elect a leader."""
_ACCOUNT: Final = "fleetgate-worker"
USER: Final = f"system:serviceaccount:{NAMESPACE}:{_ACCOUNT}"
GROUPS: Final = ("system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")
_SHIPPED: Final = "hub-side.yaml"
_RBAC: Final = "rbac.authorization.k8s.io"
_TURNS_OF_AGENTS: Final[Json] = {
    "apiVersion": f"{_RBAC}/v1",
    "kind": "Role",
    "metadata": {"name": "fleetgate-agents-lease", "namespace": NAMESPACE},
    "rules": [
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "list", "watch", "create", "update"],
        }
    ],
}
"""The name of the Lease for explicitly listed agents depends on the members."""


async def grant(hub: Hub) -> None:
    """Grant the worker, which runs every role, the rights of each role."""
    shipped = manifests.documents(_SHIPPED)
    for body in shipped:
        await manifests.apply(hub, body)
    for body in shipped:
        if body["kind"] in {"ClusterRole", "Role"}:
            await manifests.apply(hub, _binding(body))
    await manifests.apply(hub, _TURNS_OF_AGENTS)
    await manifests.apply(hub, _binding(_TURNS_OF_AGENTS))


def _binding(role: Json) -> Json:
    kind, name = role["kind"], role["metadata"]["name"]
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": {**role["metadata"], "name": f"{_ACCOUNT}-{name}"},
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": NAMESPACE}],
    }
