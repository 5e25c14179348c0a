"""A hand-made run that waits at a gate, and writes that people attempt on its objects."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from api.kinds import NAMESPACE, Kind, Scope
from hub import Hub, Json
from tests.support.conditions import condition
from tests.support.hand_placement import HandPlacement

Write = Callable[[Hub, Kind, Json, Json, str], Awaitable[Json]]
"""Writes as a client, given the kind, the current object, the change and the subresource."""


def approval(message: str, kind: str = "Approved") -> Json:
    """The change that approves."""
    return {"status": {"conditions": [condition(kind, reason="Test", message=message)]}}


async def merge(hub: Hub, kind: Kind, body: Json, change: Json, subresource: str) -> Json:
    """Write like `kubectl patch --type=merge`."""
    return await _patch(hub, kind, body, change, subresource)


async def json_patch(hub: Hub, kind: Kind, body: Json, change: Json, subresource: str) -> Json:
    """Write like `kubectl patch --type=json`, with one operation per top-level field."""
    patch: list[Any] = [
        {"op": "add", "path": f"/{top}", "value": _merged(body.get(top, {}), value)}
        for top, value in change.items()
    ]
    return await _patch(hub, kind, body, patch, subresource)


async def _patch(
    hub: Hub, kind: Kind, body: Json, patch: Json | list[Any], subresource: str
) -> Json:
    meta = body["metadata"]
    return await hub.patch(
        kind,
        meta["name"],
        patch,
        namespace=meta.get("namespace", ""),
        subresource=subresource,
        manager="kubectl-patch",
    )


async def apply(hub: Hub, kind: Kind, body: Json, change: Json, subresource: str) -> Json:
    """Write like `kubectl apply --server-side --force-conflicts`."""
    meta = body["metadata"]
    named = {key: meta[key] for key in ("name", "namespace") if key in meta}
    whole = change | {"metadata": named | change.get("metadata", {})}
    return await hub.apply(kind, whole, subresource=subresource, manager="kubectl")


async def replace(hub: Hub, kind: Kind, body: Json, change: Json, subresource: str) -> Json:
    """Write like `kubectl replace`."""
    return await hub.replace(kind, _merged(body, change), subresource=subresource)


WAYS: dict[str, Write] = {
    "merge": merge,
    "json": json_patch,
    "apply": apply,
    "replace": replace,
}


def _merged(old: Any, new: Any) -> Any:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return old | {key: _merged(old.get(key), value) for key, value in new.items()}


@dataclass(frozen=True)
class Gate:
    """A run and the approval request that it waits for."""

    admin: Hub
    scope: Scope
    unique: str

    @property
    def namespace(self) -> str:
        """The namespace of both; empty if they are cluster-scoped."""
        return self.unique if self.scope.run.namespaced else ""

    @property
    def place(self) -> Json:
        """The namespace as metadata of an object."""
        return {"namespace": self.namespace} if self.namespace else {}

    def _by(self, hub: Hub) -> HandPlacement:
        """Writes objects that belong to the placement, which does not exist."""
        return HandPlacement(hub, self.scope, self.unique, self.namespace)

    async def prepare(self) -> None:
        """Create the run and the request."""
        await self.admin.create(NAMESPACE, {"metadata": {"name": self.unique}})
        await self.make_run(self.admin, self.unique)
        await self._by(self.admin).ask(self.unique, run=self.unique, stage="prod")

    async def clear(self) -> None:
        """Delete the objects."""
        for kind in (self.scope.approval, self.scope.run):
            for each in (await self.admin.list(kind, namespace=self.namespace)).items:
                name: str = each["metadata"]["name"]
                if name.startswith(self.unique):
                    await self.admin.delete(kind, name, namespace=self.namespace)

    async def make_run(self, hub: Hub, name: str, **metadata: Json) -> Json:
        """Create a run that no engine plans, because its placement does not exist."""
        spec = {"placementName": self.unique, "stagedRolloutStrategyName": "none"}
        return await self._by(hub).write(self.scope.run, name, {"spec": spec}, **metadata)

    async def run(self) -> Json:
        """The current run."""
        return await self._by(self.admin).read_run(self.unique)

    async def request(self) -> Json:
        """The current approval request."""
        return await self.admin.get(self.scope.approval, self.unique, namespace=self.namespace)

    async def approve(self, hub: Hub, message: str, how: Write = merge) -> str:
        """Approve, and return the resulting message of the condition."""
        before = await self.request()
        after = await how(hub, self.scope.approval, before, approval(message), "status")
        found: str = after["status"]["conditions"][0]["message"]
        return found

    async def change(self, hub: Hub, change: Json, how: Write = merge) -> dict[str, str]:
        """Change the run, and return its resulting fleetgate annotations."""
        body = await self.run()
        body["metadata"].pop("managedFields", None)
        after = await how(hub, self.scope.run, body, change, "")
        return annotations(after)


def annotations(body: Json) -> dict[str, str]:
    """The fleetgate annotations of an object, which say who did what."""
    found = body["metadata"].get("annotations", {})
    prefix = "fleetgate.dev/"
    return {
        key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)
    }
