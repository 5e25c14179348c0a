"""Small objects that the API server accepts, which tests modify."""

from collections.abc import Awaitable
from typing import Any

import pytest

from api.kinds import Kind
from hub import Hub
from hub.errors import Invalid

NAMESPACE = "default"


def place(kind: Kind) -> str:
    """Return the namespace of the samples of a kind; empty for a cluster-scoped kind."""
    return NAMESPACE if kind.namespaced else ""


def sample(kind: Kind, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": NAMESPACE} if kind.namespaced else {})
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "spec": spec,
    }


def run_spec(**changed: Any) -> dict[str, Any]:
    return {"placementName": "p", "stagedRolloutStrategyName": "s"} | changed


def stage(**changed: Any) -> dict[str, Any]:
    return {"name": "canary"} | changed


def placement_spec(**changed: Any) -> dict[str, Any]:
    return {"resourceSelectors": [namespace_selector()]} | changed


def namespace_selector(**changed: Any) -> dict[str, Any]:
    return {"group": "", "version": "v1", "kind": "Namespace", "name": "web"} | changed


async def refusal(call: Awaitable[object]) -> str:
    """Return the API server's answer to a request that it must reject."""
    with pytest.raises(Invalid) as refused:
        await call
    return str(refused.value)


async def change(
    hub: Hub, kind: Kind, name: str, patch: dict[str, Any] | list[dict[str, Any]]
) -> dict[str, Any]:
    """Patch a sample."""
    return await hub.patch(kind, name, patch, namespace=place(kind))


async def report(hub: Hub, kind: Kind, name: str, status: dict[str, Any]) -> dict[str, Any]:
    """Write a sample's status."""
    return await hub.patch(
        kind, name, {"status": status}, namespace=place(kind), subresource="status"
    )


async def dry_create(
    hub: Hub, kind: Kind, spec: dict[str, Any], *, name: str = "x"
) -> dict[str, Any]:
    """Let the API server validate and default an object without storing it."""
    return await hub.create(kind, sample(kind, name, spec), dry_run=True)
