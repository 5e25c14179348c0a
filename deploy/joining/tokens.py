"""Tokens of ServiceAccounts, for agents that run outside the cluster of the account."""

import asyncio
from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from api.kinds import SECRET, Kind
from deploy.errors import DeployError
from deploy.joining import owned
from deploy.joining.owned import Say
from hub import Hub, Json

_OF_ACCOUNT: Final = "kubernetes.io/service-account-token"
"""Type of a Secret in which Kubernetes stores a token that does not expire."""
_ISSUED_WITHIN: Final = timedelta(seconds=30)
"""The controller manager takes less than a second."""
_ENDING: Final = "-token"


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token."""

    text: str
    expires: datetime | None = None
    """None for a token that is valid as long as its Secret exists."""


def secret_of(account: str) -> str:
    """Return the name of the Secret that holds the token of a ServiceAccount."""
    return f"{account}{_ENDING}"


async def issue(
    cluster: Hub,
    account: str,
    *,
    namespace: str,
    member: str,
    lifetime: timedelta | None,
    say: Say,
) -> Token:
    """Return a token of a ServiceAccount.

    Args:
        cluster: client of the account's cluster.
        account: name of the ServiceAccount.
        namespace: its namespace.
        member: member that the token is for.
        lifetime: how long the token is valid, though the cluster may shorten it; None for a token
            in a Secret, which is valid until that is deleted, and is used again later.
        say: told of the Secret.

    Raises DeployError if the cluster issues none.
    """
    if lifetime is None:
        return Token(await _lasting(cluster, account, namespace, member, say))
    kind = Kind("", "v1", "TokenRequest", f"serviceaccounts/{account}/token", namespaced=True)
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "spec": {"expirationSeconds": round(lifetime.total_seconds())},
    }
    status = (await cluster.create(kind, request, namespace=namespace))["status"]
    return Token(status["token"], datetime.fromisoformat(status["expirationTimestamp"]))


async def _lasting(cluster: Hub, account: str, namespace: str, member: str, say: Say) -> str:
    name = secret_of(account)
    metadata = {
        "name": name,
        "namespace": namespace,
        "annotations": {"kubernetes.io/service-account.name": account},
    }
    body = {"metadata": metadata, "type": _OF_ACCOUNT}
    found = await cluster.find(SECRET, name, namespace=namespace)
    if found is not None and owned.member_of(found) != member:
        raise DeployError(
            f"Secret {name} in namespace {namespace} of {cluster.url} was not created for member "
            f"{member}: delete it, or ask for a token without a Secret with --token-duration"
        )
    if found is None:
        await owned.ensure(cluster, SECRET, body, member=member, say=say)
    try:
        async with asyncio.timeout(_ISSUED_WITHIN.total_seconds()):
            return await _issued(cluster, name, namespace)
    except TimeoutError as error:
        raise DeployError(
            f"{cluster.url} has not put a token into Secret {name} in namespace {namespace}: is "
            "its controller manager running? --token-duration asks for a token without a Secret"
        ) from error


async def _issued(cluster: Hub, name: str, namespace: str) -> str:
    while True:
        body = await cluster.get(SECRET, name, namespace=namespace)
        if token := _token(body):
            return b64decode(token).decode()
        await cluster.watch_until(SECRET, body, lambda each: bool(_token(each)))


def _token(secret: Json) -> str:
    token: str = (secret.get("data") or {}).get("token", "")
    return token
