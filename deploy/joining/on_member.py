"""What a member cluster needs for its agent."""

from datetime import timedelta

from api.kinds import NAMESPACE, SECRET, SERVICE_ACCOUNT, Kind
from deploy.errors import DeployError
from deploy.installing import manifests
from deploy.joining import AGENT, AGENT_NAMESPACE, HUB_SECRET, on_hub, owned, tokens
from deploy.joining.owned import Say
from deploy.joining.tokens import Token
from hub import Forbidden, Hub, Json

_RIGHTS = "member-agent-on-member.yaml"
_SYSTEM = "kube-system"
"""Its UID identifies a cluster, whatever its address."""


async def check(hub: Hub, cluster: Hub, *, member: str, take_over: bool) -> None:
    """Raise DeployError if this cluster is the hub, or joined under another name."""
    if await _is_same(hub, cluster):
        raise DeployError(
            f"the member cluster {cluster.url} is the hub itself: choose the member with "
            "--context or --member-kubeconfig"
        )
    for kind, name in ((SECRET, HUB_SECRET), (SERVICE_ACCOUNT, AGENT)):
        found = await cluster.find(kind, name, namespace=AGENT_NAMESPACE)
        other = owned.member_of(found) if found else ""
        if other not in {"", member} and not take_over:
            raise DeployError(
                f"the member cluster {cluster.url} has joined as {other}: choose another context, "
                f"let it leave first (`fleetgate member leave {other}`), or add --take-over"
            )


async def _is_same(one: Hub, other: Hub) -> bool:
    if one.url == other.url:
        return True
    uids = [await _uid(each) for each in (one, other)]
    return uids[0] == uids[1] and bool(uids[0])


async def _uid(cluster: Hub) -> str:
    try:
        found = await cluster.find(NAMESPACE, _SYSTEM)
    except Forbidden:
        return ""  # a person may join a member without the right to read namespaces
    return found["metadata"]["uid"] if found else ""


async def hand_over(
    cluster: Hub, member: str, *, kubeconfig: str, take_over: bool, say: Say
) -> None:
    """Store the agent's kubeconfig for the hub where its chart finds it. Raises DeployError."""
    await owned.ensure_namespace(cluster, AGENT_NAMESPACE, say=say)
    body = on_hub.secret(HUB_SECRET, namespace=AGENT_NAMESPACE, kubeconfig=kubeconfig)
    await owned.claim(cluster, SECRET, body, member=member, take_over=take_over, say=say)


async def ensure_account(
    cluster: Hub, member: str, *, lifetime: timedelta | None, say: Say
) -> Token:
    """Create an account for an agent that runs elsewhere, and return a token for it.

    Rights that someone else set up are left as they are. Raises DeployError.
    """
    await owned.ensure_namespace(cluster, AGENT_NAMESPACE, say=say)
    for kind, body in await _rights(cluster):
        await owned.ensure(cluster, kind, body, member=member, say=say)
    return await tokens.issue(
        cluster, AGENT, namespace=AGENT_NAMESPACE, member=member, lifetime=lifetime, say=say
    )


async def clear(cluster: Hub, member: str, *, say: Say) -> bool:
    """Delete what joining created on the member; return whether there was something."""
    secrets = [(SECRET, _metadata(each)) for each in (HUB_SECRET, tokens.secret_of(AGENT))]
    rights = [(kind, body["metadata"]) for kind, body in await _rights(cluster)]
    removed = False
    for kind, metadata in (*secrets, *reversed(rights)):
        name, namespace = metadata["name"], metadata.get("namespace", "")
        removed |= await owned.remove(
            cluster, kind, name, namespace=namespace, member=member, say=say
        )
    return removed


async def _rights(cluster: Hub) -> list[tuple[Kind, Json]]:
    """Return the shipped rights, without the namespace, which may hold other objects."""
    found = []
    for body in manifests.documents(_RIGHTS):
        kind = await cluster.kind_for(body["apiVersion"], body["kind"])
        if kind is None:
            raise DeployError(f"{cluster.url} does not serve {body['apiVersion']} {body['kind']}")
        if kind != NAMESPACE:
            found.append((kind, body))
    return found


def _metadata(name: str) -> Json:
    return {"name": name, "namespace": AGENT_NAMESPACE}
