"""Registering the members of the fleet with the hub.

contract: placement 11
"""

import asyncio
from typing import Any, Final

from api.kinds import MEMBER_CLUSTER, NAMESPACE, Kind
from api.names import member_namespace
from hub import AlreadyExists, Hub

_LABELS: Final = {
    "member1": {"environment": "canary", "order": "2"},
    "member2": {"environment": "staging"},
    "member3": {"environment": "canary", "order": "1"},
}
"""The same labels as in KubeFleet's tutorials on staged update runs."""


def labels(member: str) -> dict[str, str]:
    """Return the labels of a member; any after the tutorials' three are production clusters."""
    number = member.removeprefix("member")
    return _LABELS.get(member, {"environment": "prod", "order": number})


async def register(hub: Hub, members: tuple[str, ...]) -> None:
    """Create missing namespaces and MemberClusters; existing objects are left unchanged."""
    await asyncio.gather(*(_register(hub, member) for member in members))


async def _register(hub: Hub, member: str) -> None:
    await _create(hub, NAMESPACE, {"metadata": {"name": member_namespace(member)}})
    await _create(hub, MEMBER_CLUSTER, _member_cluster(member))


def _member_cluster(member: str) -> dict[str, Any]:
    return {
        "metadata": {"name": member, "labels": labels(member)},
        "spec": {
            "identity": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "User",
                "name": f"{member}-agent",
            }
        },
    }


async def _create(hub: Hub, kind: Kind, body: dict[str, Any]) -> None:
    name = body["metadata"]["name"]
    if await hub.find(kind, name) is not None:
        return
    try:
        await hub.create(kind, {"apiVersion": kind.api_version, "kind": kind.kind, **body})
    except AlreadyExists:
        return  # created by someone else in the meantime
