"""The rights of the fleet's own worker on the hub: those that are shipped, and no more."""

from typing import Final

from deploy.local import manifests
from hub import Hub, Json

NAMESPACE: Final = "fleetgate"
"""Where the worker's account is, and the Leases by which workers take turns."""
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
"""The Lease of agents that are named is called after the members."""


async def grant(hub: Hub) -> None:
    """Give the worker, which does everything, the role of each part."""
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
