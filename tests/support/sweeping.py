"""Emptying a fleet between two tests.

Runs and placements are deleted, and worker and agents clean up after them, as they always do. Only
the namespace controllers are not waited for: they take up a deleted namespace after five seconds.
Their work is done here at once.
"""

import asyncio
import operator
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from api.kinds import (
    APPLIED_WORK,
    CLUSTER_RESOURCE_OVERRIDE,
    NAMESPACE,
    RESOURCE_OVERRIDE,
    SCOPES,
    WORK,
    Kind,
)
from hub import Conflict, Hub, Json, NotFound
from tests.support.eventually import eventually

PATIENCE_SECONDS = 60
_STAYS = re.compile(r"default|kube-.*|fleet.*")
"""Namespaces of Kubernetes and of the fleet itself."""
_PEOPLES = (
    *(
        kind
        for scope in SCOPES.values()
        for kind in (scope.run, scope.placement, scope.strategy, scope.policy, scope.decision)
    ),
    CLUSTER_RESOURCE_OVERRIDE,
    RESOURCE_OVERRIDE,
)


async def sweep(hub: Hub, members: Mapping[str, Hub]) -> None:
    """Remove everything that people created on the hub, and wait until it is gone from members.

    Raises AssertionError with what is left after a minute, and at once if a member keeps a
    namespace that is not being deleted.
    """
    await _until_none(lambda: _rolled_out(hub, members))
    kept = [f"{name}: {each}" for name, one in members.items() for each in await _namespaces(one)]
    assert not kept, f"namespaces that stay on members: {', '.join(kept)}"
    # Last, because nothing can be created in a namespace that is being deleted, not even an event.
    for name in await _namespaces(hub):
        await hub.delete(NAMESPACE, name)
    await _until_none(lambda: _let_go_all(hub))


async def _until_none(left: Callable[[], Awaitable[list[str]]]) -> None:
    await eventually(left, operator.not_, within=PATIENCE_SECONDS)


async def _rolled_out(hub: Hub, members: Mapping[str, Hub]) -> list[str]:
    """Delete what is not being deleted yet; return the names of everything that still exists."""
    found = await asyncio.gather(
        *(_delete_all(hub, kind) for kind in _PEOPLES),
        _names(hub, WORK),
        *(_on_member(name, cluster) for name, cluster in members.items()),
    )
    return [each for names in found for each in names]


async def _delete_all(hub: Hub, kind: Kind) -> list[str]:
    items = (await hub.list(kind)).items
    for each in items:
        metadata = each["metadata"]
        if "deletionTimestamp" not in metadata:
            with suppress(NotFound):
                namespace = metadata.get("namespace", "")
                await hub.delete(kind, metadata["name"], namespace=namespace)
    return [_named(kind, each) for each in items]


async def _on_member(name: str, cluster: Hub) -> list[str]:
    """Finalize the namespaces that agents deleted; return what they still have on the member."""
    going = await _let_go_all(cluster)
    records = await _names(cluster, APPLIED_WORK)
    return [f"{name}: {each}" for each in (*going, *records)]


async def _names(cluster: Hub, kind: Kind) -> list[str]:
    return [_named(kind, each) for each in (await cluster.list(kind)).items]


async def _namespaces(cluster: Hub) -> dict[str, bool]:
    """Return the namespaces that tests created, each with whether it is being deleted."""
    found = [each["metadata"] for each in (await cluster.list(NAMESPACE)).items]
    return {
        each["name"]: "deletionTimestamp" in each
        for each in found
        if not _STAYS.fullmatch(each["name"])
    }


async def _let_go_all(cluster: Hub) -> list[str]:
    """Finalize the namespaces that are being deleted, and return their names."""
    going = [name for name, is_going in (await _namespaces(cluster)).items() if is_going]
    await asyncio.gather(*(_let_go(cluster, each) for each in going))
    return going


async def _let_go(cluster: Hub, name: str) -> None:
    """Delete the content of a namespace that is being deleted, and finalize it once empty."""
    kinds = [each for each in await cluster.kinds() if each.namespaced]
    full = await _not_empty(cluster, name, kinds)
    await asyncio.gather(*(cluster.delete_all(each, namespace=name, labels="") for each in full))
    if await _not_empty(cluster, name, full):
        return
    body = await cluster.find(NAMESPACE, name)
    if body is None:
        return
    with suppress(NotFound, Conflict):
        await cluster.replace(
            NAMESPACE, body | {"spec": {"finalizers": []}}, subresource="finalize"
        )


async def _not_empty(cluster: Hub, namespace: str, kinds: list[Kind]) -> list[Kind]:
    found = await asyncio.gather(*(cluster.list(each, namespace=namespace) for each in kinds))
    return [kind for kind, listing in zip(kinds, found, strict=True) if listing.items]


def _named(kind: Kind, body: Json) -> str:
    return f"{kind} {body['metadata']['name']}"
