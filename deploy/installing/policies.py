"""Installing the admission policies, which restrict writes and record who made them.

See the comments at the top of `deploy/rbac/admission.yaml` and `deploy/rbac/names.yaml`.
"""

import asyncio
import secrets
from datetime import timedelta
from typing import Final

from api.kinds import SCOPES, Kind
from api.names import CREATED_BY
from deploy.errors import DeployError
from deploy.installing import manifests
from hub import Forbidden, Hub, Json, NotFound, Unavailable

CHECKS: Final = "admission.yaml"
NAMES: Final = "names.yaml"
MUTATING: Final = "MutatingAdmissionPolicy"
_GROUP: Final = "admissionregistration.k8s.io"
_VERSIONS: Final = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")
"""API versions of mutating policies; the first one that is served is used."""
_IN_FORCE_WITHIN: Final = timedelta(seconds=30)
"""An API server reloads its policies once a second."""
_ASK_AGAIN: Final = timedelta(milliseconds=200)
_NOBODY: Final = "nobody-of-this-name"


async def install(hub: Hub) -> bool:
    """Apply the policies and wait until they are in force.

    Returns whether the API server records who did what, which it can from Kubernetes 1.34 on.
    Raises DeployError if it does not support admission policies, or takes too long.
    """
    for body in manifests.documents(CHECKS):
        await manifests.apply(hub, body)
    version = await _mutating_version(hub)
    for body in manifests.documents(NAMES) if version else ():
        await manifests.apply(hub, body | {"apiVersion": version})
    try:
        async with asyncio.timeout(_IN_FORCE_WITHIN.total_seconds()):
            await _until_in_force(hub)
    except TimeoutError as error:
        limit = f"{_IN_FORCE_WITHIN.total_seconds():g} s"
        raise DeployError(f"{hub.url} did not enforce the policies within {limit}") from error
    return bool(version)


async def remove(hub: Hub) -> None:
    """Delete the policies that are installed."""
    version = await _mutating_version(hub)
    mutating = [each | {"apiVersion": version} for each in manifests.documents(NAMES) if version]
    for body in (*manifests.documents(CHECKS), *mutating):
        kind = await hub.kind_for(body["apiVersion"], body["kind"])
        if kind is None:
            continue
        try:
            await hub.delete(kind, body["metadata"]["name"])
        except NotFound:
            continue


async def _mutating_version(hub: Hub) -> str:
    for version in _VERSIONS:
        if await hub.kind_for(version, MUTATING):
            return version
    return ""


async def _until_in_force(hub: Hub) -> None:
    """Wait until runs can no longer be created in someone else's name."""
    for scope in SCOPES.values():
        while await _can_be_forged(hub, scope.run):  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(_ASK_AGAIN.total_seconds())


async def _can_be_forged(hub: Hub, run: Kind) -> bool:
    try:
        made = await hub.create(run, _forged(run), dry_run=True)
    except Forbidden:
        return False
    except Unavailable:
        return True  # It needs a moment to load a kind that is new to it.
    name: str = made["metadata"]["annotations"][CREATED_BY]
    return name == _NOBODY


def _forged(run: Kind) -> Json:
    placed = {"namespace": "default"} if run.namespaced else {}
    name = f"policies-{secrets.token_hex(4)}"
    return {
        "metadata": {"name": name, "annotations": {CREATED_BY: _NOBODY}} | placed,
        "spec": {"placementName": "none", "stagedRolloutStrategyName": "none"},
    }
