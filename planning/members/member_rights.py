"""Rights of a member's agent on the hub: its own Works and its own MemberCluster, no more.

They are the same as in `deploy/rbac/member-agent-on-hub.yaml`.

contract: placement 11 (identity)
"""

import hashlib
import json
from typing import Any, Final

from api import names
from api.base import OwnerReference
from api.kinds import CLUSTER_GROUP, PLACEMENT_GROUP
from api.members import RbacSubject

Json = dict[str, Any]

_GROUP: Final = "rbac.authorization.k8s.io"
_PREFIX: Final = "fleetgate-member-"

# Patching a Work is needed to set its finalizer.
_WORKS: Final = (
    {
        "apiGroups": [PLACEMENT_GROUP],
        "resources": ["works"],
        "verbs": ["get", "list", "watch", "patch"],
    },
    {"apiGroups": [PLACEMENT_GROUP], "resources": ["works/status"], "verbs": ["patch"]},
)


def rights(member: str, *, identity: RbacSubject, owner: OwnerReference) -> list[Json]:
    """Return roles and bindings, in an order in which they can be created.

    Args:
        member: name of the member.
        identity: identity of its agent.
        owner: the MemberCluster; the rights are deleted with it.
    """
    name, namespace = f"{_PREFIX}{member}", names.member_namespace(member)
    own = [
        {
            "apiGroups": [CLUSTER_GROUP],
            "resources": ["memberclusters"],
            "resourceNames": [member],
            "verbs": ["get", "list", "watch"],
        },
        {
            "apiGroups": [CLUSTER_GROUP],
            "resources": ["memberclusters/status"],
            "resourceNames": [member],
            "verbs": ["patch"],
        },
    ]
    of_itself = {"name": name, "ownerReferences": [owner.to_wire()]}
    # These are deleted with the namespace, and that with the member.
    of_works = {"name": f"{_PREFIX}works", "namespace": namespace}
    return [
        *_granted("ClusterRole", of_itself, rules=own, to=identity),
        *_granted("Role", of_works, rules=list(_WORKS), to=identity),
    ]


def fingerprint(bodies: list[Json]) -> str:
    """Return a hash by which to see whether the same rights were granted before."""
    return hashlib.sha256(json.dumps(bodies, sort_keys=True).encode()).hexdigest()


def _granted(role: str, metadata: Json, *, rules: list[Json], to: RbacSubject) -> list[Json]:
    """Return a role and its binding."""
    api_version = f"{_GROUP}/v1"
    reference = {"apiGroup": _GROUP, "kind": role, "name": metadata["name"]}
    return [
        {"apiVersion": api_version, "kind": role, "metadata": metadata, "rules": rules},
        {
            "apiVersion": api_version,
            "kind": f"{role}Binding",
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [to.to_wire()],
        },
    ]
