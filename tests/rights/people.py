"""Users of the hub, impersonated with the administrator's kubeconfig."""

from pathlib import Path

import yaml

from api.kinds import Kind
from hub import Hub, Json
from tests.support.eventually import eventually

RBAC = "rbac.authorization.k8s.io"
CLUSTER_ROLE = Kind(RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)
_REVIEW = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
)


def kubeconfig_of(user: str, *, admin: Path, folder: Path, groups: tuple[str, ...] = ()) -> Path:
    """A kubeconfig that impersonates a user, with only the user's rights."""
    document = yaml.safe_load(admin.read_text())
    document["users"][0]["user"] |= {"as": user, "as-groups": list(groups)}
    path = folder / f"{user.replace(':', '-')}.kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


async def bind(hub: Hub, user: str, role: str, *, namespace: str = "") -> None:
    """Bind a ClusterRole to a user, hub-wide or in one namespace, and wait until it is in force."""
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
    await in_force(hub, user, role, namespace=namespace)


async def in_force(hub: Hub, user: str, role: str, *, namespace: str = "") -> None:
    """Wait until a user has the rights of a ClusterRole, which takes the API server a moment.

    One check per rule is enough: the API server loads a role as a whole.
    """
    rules = (await hub.get(CLUSTER_ROLE, role))["rules"]
    accesses = [_access(rule, namespace) for rule in rules if "resources" in rule]

    async def allowed() -> bool:
        for access in accesses:
            asked = {"metadata": {}, "spec": {"user": user, "resourceAttributes": access}}
            if not (await hub.create(_REVIEW, asked))["status"]["allowed"]:
                return False
        return True

    await eventually(allowed)


def _access(rule: Json, namespace: str) -> Json:
    resource, _, subresource = rule["resources"][0].partition("/")
    return {
        "group": rule["apiGroups"][0],
        "resource": resource,
        "subresource": subresource,
        "verb": rule["verbs"][-1],
        "namespace": namespace,
        "name": rule.get("resourceNames", [""])[0],
    }
