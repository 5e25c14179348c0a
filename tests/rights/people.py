"""People, as the hub knows them: users whom the administrator's kubeconfig stands in for."""

from pathlib import Path

import yaml

from hub import Hub

RBAC = "rbac.authorization.k8s.io"


def kubeconfig_of(user: str, *, admin: Path, folder: Path, groups: tuple[str, ...] = ()) -> Path:
    """A kubeconfig whose requests are made as the user, with the user's rights only."""
    document = yaml.safe_load(admin.read_text())
    document["users"][0]["user"] |= {"as": user, "as-groups": list(groups)}
    path = folder / f"{user.replace(':', '-')}.kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


async def bind(hub: Hub, user: str, role: str, *, namespace: str = "") -> None:
    """Give a user a ClusterRole, for the whole hub or for one namespace."""
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    served = await hub.kind_for(f"{RBAC}/v1", kind)
    assert served is not None
    place = {"namespace": namespace} if namespace else {}
    body = {
        "metadata": {"name": f"{user}-{role}"} | place,
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": user, "apiGroup": RBAC}],
    }
    await hub.apply(served, body, manager="test")
