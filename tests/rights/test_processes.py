"""The rights in deploy/rbac/hub-side.yaml are sufficient for a rollout, and grant nothing else."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE,
    CLUSTER_SCOPE,
    CONFIG_MAP,
    MEMBER_CLUSTER,
    NAMESPACE,
    SECRET,
    WORK,
    Kind,
)
from hub import Forbidden, Hub, Json
from tests.placement.world import World, cluster_scoped
from tests.support.conditions import condition, condition_of
from tests.support.eventually import eventually

ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)


async def strategy(world: World) -> str:
    """A strategy with one stage of all clusters, which starts after an approval."""
    stage = {"name": "all", "labelSelector": {}, "beforeStageTasks": [{"type": "Approval"}]}
    await world.hub.create(
        world.scope.strategy,
        {"metadata": metadata(world, world.unique), "spec": {"stages": [stage]}},
    )
    return world.unique


def metadata(world: World, name: str) -> Json:
    return {"name": name} | ({"namespace": world.home} if world.home else {})


async def run(world: World, strategy: str, name: str) -> str:
    """Create a run that takes a snapshot itself, because it has no index."""
    name = f"{world.unique}-{name}"
    spec = {
        "placementName": world.name,
        "stagedRolloutStrategyName": strategy,
        "state": "Run",
    }
    await world.hub.create(world.scope.run, {"metadata": metadata(world, name), "spec": spec})
    return name


async def approve(world: World, run: str) -> None:
    request = f"{run}-before-all"

    async def asked() -> Json | None:
        return await world.hub.find(world.scope.approval, request, namespace=world.home)

    found = await eventually(asked)
    approved = condition("Approved", generation=found["metadata"]["generation"])
    patch = {"status": {"conditions": [approved]}}
    await world.hub.patch(
        world.scope.approval, request, patch, namespace=world.home, subresource="status"
    )


async def says(world: World, run: str, kind: str) -> Json:
    async def look() -> Json | None:
        body = await world.hub.find(world.scope.run, run, namespace=world.home)
        found = condition_of(body, kind)
        return found if found.get("status") == "True" else None

    return await eventually(look)


@pytest.mark.both_scopes
async def test_a_complete_rollout_needs_only_the_shipped_rights(world: World) -> None:
    stays, leaves = await world.join("a"), await world.join("b")
    if not world.home:
        await override(world)
    await world.place(world.pick_fixed(stays, leaves), revisionHistoryLimit=1)
    await world.told("Scheduled", status="True")
    named = await strategy(world)

    first = await run(world, named, "1")
    await approve(world, first)
    await world.report(stays)
    await world.report(leaves)
    await says(world, first, "Succeeded")
    await world.told("Available", status="True")

    await world.content("value2")
    changed = await world.change(policy={"clusterNames": [stays]})
    generation = changed["metadata"]["generation"]
    await world.told("Scheduled", status="True", observedGeneration=generation)
    second = await run(world, named, "2")
    await approve(world, second)

    async def updated() -> Json | None:
        work = await world.work(stays)
        return work if work and "value2" in str(work["spec"]) else None

    await world.report_on(await eventually(updated))
    await says(world, second, "Succeeded")
    assert [each["spec"]["targetCluster"] for each in await world.bindings()] == [stays]

    await world.hub.delete(world.scope.run, first, namespace=world.home)

    async def is_gone() -> bool:
        labels = f"kubernetes-fleet.io/targetUpdateRun={first}"
        left = await world.hub.list(world.scope.approval, namespace=world.home, labels=labels)
        return not left.items and not await world.hub.find(
            world.scope.run, first, namespace=world.home
        )

    await eventually(is_gone)
    await world.hub.delete(world.scope.run, second, namespace=world.home)


async def override(world: World) -> None:
    policy = {
        "overrideRules": [
            {
                "clusterSelector": {"clusterSelectorTerms": []},
                "jsonPatchOverrides": [
                    {"op": "add", "path": "/metadata/annotations", "value": {"by": "override"}}
                ],
            }
        ]
    }
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": world.unique}
    await world.hub.create(
        CLUSTER_RESOURCE_OVERRIDE,
        {
            "metadata": {"name": world.unique},
            "spec": {"clusterResourceSelectors": [selector], "policy": policy},
        },
    )


Attempt = Callable[[Hub, World], Awaitable[Any]]


def of_placement(change: Json) -> Attempt:
    return lambda hub, world: hub.patch(CLUSTER_SCOPE.placement, world.name, change)


def body(world: World) -> Json:
    return {"metadata": {"name": world.unique, "namespace": world.unique}}


async def change_a_strategy(hub: Hub, world: World) -> None:
    name = await strategy(world)
    await hub.patch(CLUSTER_SCOPE.strategy, name, {"metadata": {"labels": {"a": "b"}}})


RUN = {"placementName": "any", "stagedRolloutStrategyName": "any"}

REFUSED: dict[str, dict[str, Attempt]] = {
    "engine": {
        "change a placement": of_placement({"spec": {"revisionHistoryLimit": 3}}),
        "create a run other than a rollback": lambda hub, world: hub.create(
            CLUSTER_SCOPE.run, body(world) | {"spec": RUN}
        ),
        "delete a run": lambda hub, world: hub.delete(CLUSTER_SCOPE.run, "any"),
        "change a strategy": change_a_strategy,
        "create a strategy other than a rollback's": lambda hub, world: hub.create(
            CLUSTER_SCOPE.strategy, body(world) | {"spec": {"stages": []}}
        ),
        "create a binding": lambda hub, world: hub.create(CLUSTER_SCOPE.binding, body(world)),
        "write a Work": lambda hub, world: hub.create(WORK, body(world)),
        "delete an approval": lambda hub, _: hub.delete(CLUSTER_SCOPE.approval, "any"),
        "change a member": lambda hub, _: hub.patch(MEMBER_CLUSTER, "any", {}),
        "change content": lambda hub, world: hub.patch(CONFIG_MAP, "cm", {}, namespace="default"),
        "create a role": lambda hub, world: hub.create(ROLE, body(world) | {"rules": []}),
    },
    "bridge": {
        "write a run's status": lambda hub, _: hub.patch(
            CLUSTER_SCOPE.run, "any", {}, subresource="status"
        ),
        "write a binding": lambda hub, _: hub.patch(CLUSTER_SCOPE.binding, "any", {}),
        "approve": lambda hub, _: hub.patch(
            CLUSTER_SCOPE.approval, "any", {}, subresource="status"
        ),
        "request an approval": lambda hub, world: hub.create(CLUSTER_SCOPE.approval, body(world)),
        "read a Secret": lambda hub, _: hub.list(SECRET, namespace="default"),
        "read content": lambda hub, _: hub.list(CONFIG_MAP, namespace="default"),
        "read Works": lambda hub, _: hub.list(WORK),
        "change a placement": of_placement({"spec": {"revisionHistoryLimit": 3}}),
    },
    "placement": {
        "change a run": lambda hub, _: hub.patch(CLUSTER_SCOPE.run, "any", {}),
        "approve": lambda hub, _: hub.patch(
            CLUSTER_SCOPE.approval, "any", {}, subresource="status"
        ),
        "delete a placement": lambda hub, world: hub.delete(CLUSTER_SCOPE.placement, world.name),
        "register a member": lambda hub, world: hub.create(MEMBER_CLUSTER, body(world)),
        "delete a member": lambda hub, _: hub.delete(MEMBER_CLUSTER, "any"),
        "change content": lambda hub, world: hub.patch(
            CONFIG_MAP, "cm", {}, namespace=world.unique
        ),
        "write the status of content": lambda hub, world: hub.patch(
            NAMESPACE, world.unique, {}, subresource="status"
        ),
        "grant itself more": lambda hub, world: hub.create(
            ROLE,
            body(world) | {"rules": [{"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}]},
        ),
    },
}


@cluster_scoped
@pytest.mark.parametrize("part", REFUSED)
async def test_a_role_cannot_do_anything_else(
    part: str, world: World, clients: dict[str, Hub]
) -> None:
    for what, attempt in REFUSED[part].items():
        try:
            await attempt(clients[part], world)
        except Forbidden:
            continue
        pytest.fail(f"the {part} may {what}")
