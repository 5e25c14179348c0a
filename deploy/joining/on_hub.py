"""What the hub needs for a member: its MemberCluster, and an account for its agent."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import timedelta

from api.kinds import MEMBER_CLUSTER, SECRET, SERVICE_ACCOUNT
from api.members import MemberCluster, RbacSubject
from api.names import MEMBER_KUBECONFIG
from deploy.errors import DeployError
from deploy.joining import ACCOUNTS, KUBECONFIG, owned, tokens
from deploy.joining.owned import Say
from deploy.joining.tokens import Token
from hub import Hub, Json


def identity(member: str) -> RbacSubject:
    """Return the identity of a member's agent on the hub."""
    return RbacSubject(kind=SERVICE_ACCOUNT.kind, name=member, namespace=ACCOUNTS)


async def register(
    hub: Hub, member: str, *, labels: Mapping[str, str], take_over: bool, say: Say
) -> MemberCluster:
    """Create the MemberCluster, or set the labels of one that has the same identity.

    Returns it as it was before, or as created. Raises DeployError if it has another identity that
    is not to be taken over, or if it is being deleted.
    """
    wanted = identity(member)
    body = await hub.find(MEMBER_CLUSTER, member)
    if body is None:
        metadata = {"name": member, "labels": dict(labels)}
        made = {"metadata": metadata, "spec": {"identity": wanted.to_wire()}}
        body = await hub.create(MEMBER_CLUSTER, made)
        say(f"{owned.shown(MEMBER_CLUSTER, member)} created")
        return MemberCluster.from_wire(body)
    found = MemberCluster.from_wire(body)
    _check(found, wanted, take_over=take_over)
    changes = _changes(found, wanted, labels)
    if changes:
        await hub.patch(MEMBER_CLUSTER, member, changes)
        say(f"{owned.shown(MEMBER_CLUSTER, member)} exists already: {_told(found, labels, wanted)}")
    return found


def _check(found: MemberCluster, wanted: RbacSubject, *, take_over: bool) -> None:
    name = found.metadata.name
    if found.metadata.deletion_timestamp:
        raise DeployError(
            f"MemberCluster {name} is being deleted: wait until `kubectl get membercluster {name}` "
            "no longer finds it, then join again"
        )
    if not _is_same(found.spec.identity, wanted) and not take_over:
        raise DeployError(
            f"MemberCluster {name} exists, and its agent is {subject(found.spec.identity)}: choose "
            f"another name, or give {subject(wanted)} its place with --take-over"
        )


def _is_same(one: RbacSubject, other: RbacSubject) -> bool:
    return (one.kind, one.namespace, one.name) == (other.kind, other.namespace, other.name)


def has_other_identity(found: MemberCluster) -> bool:
    """Return whether a MemberCluster has another identity than the one that joining gives it."""
    return not _is_same(found.spec.identity, identity(found.metadata.name))


def subject(of: RbacSubject) -> str:
    """Return an identity for a message, such as `ServiceAccount fleetgate-agents/prod-1`."""
    return f"{of.kind} {of.namespace}/{of.name}" if of.namespace else f"{of.kind} {of.name}"


def _changes(found: MemberCluster, wanted: RbacSubject, labels: Mapping[str, str]) -> Json:
    changes: Json = {}
    if not labels.items() <= found.metadata.labels.items():
        changes["metadata"] = {"labels": dict(labels)}
    if not _is_same(found.spec.identity, wanted):
        changes["spec"] = {"identity": wanted.to_wire() | {"apiGroup": None}}
    return changes


def _told(found: MemberCluster, labels: Mapping[str, str], wanted: RbacSubject) -> str:
    before = found.metadata.labels
    told = [
        f"label {key}: {before.get(key, 'none')} → {value}"
        for key, value in labels.items()
        if before.get(key) != value
    ]
    if not _is_same(found.spec.identity, wanted):
        told.append(f"identity: {subject(found.spec.identity)} → {subject(wanted)}")
    return ", ".join(told)


# -- the account of the agent --------------------------------------------------------------


async def ensure_account(hub: Hub, member: str, *, say: Say) -> None:
    """Create the ServiceAccount of the member's agent; one of someone else is used as it is."""
    await owned.ensure_namespace(hub, ACCOUNTS, say=say)
    metadata = {"name": member, "namespace": ACCOUNTS}
    if await hub.find(SERVICE_ACCOUNT, member, namespace=ACCOUNTS) is None:
        await owned.ensure(hub, SERVICE_ACCOUNT, {"metadata": metadata}, member=member, say=say)


async def account_token(hub: Hub, member: str, *, lifetime: timedelta | None, say: Say) -> Token:
    """Return a token for the agent; see `tokens.issue`."""
    return await tokens.issue(
        hub, member, namespace=ACCOUNTS, member=member, lifetime=lifetime, say=say
    )


async def remove_account(hub: Hub, member: str, *, say: Say) -> bool:
    """Delete the account and its token; return whether there was something to delete."""
    token = tokens.secret_of(member)
    removed = [
        await owned.remove(hub, kind, name, namespace=ACCOUNTS, member=member, say=say)
        for kind, name in ((SECRET, token), (SERVICE_ACCOUNT, member))
    ]
    return any(removed)


# -- the Secret for a worker that acts as agent --------------------------------------------


async def hand_over(
    hub: Hub, member: str, *, kubeconfig: str, namespace: str, take_over: bool, say: Say
) -> None:
    """Store the member's kubeconfig where workers with `--member-secrets` find it.

    Raises DeployError if there is another Secret of that name that is not to be taken over.
    """
    await owned.ensure_namespace(hub, namespace, say=say)
    labels = {MEMBER_KUBECONFIG: member}
    body = secret(member, namespace=namespace, kubeconfig=kubeconfig, labels=labels)
    await owned.claim(hub, SECRET, body, member=member, take_over=take_over, say=say)


def secret(
    name: str, *, namespace: str, kubeconfig: str, labels: Mapping[str, str] | None = None
) -> Json:
    """Return a Secret that holds a kubeconfig."""
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels or {})}
    return {"metadata": metadata, "data": {KUBECONFIG: b64encode(kubeconfig.encode()).decode()}}
