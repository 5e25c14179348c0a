"""Originals on the hub show the status of the placed objects (contract: placement 2.3)."""

from typing import Any

from api.kinds import EVENT, Kind
from planning.placements.mirroring import NOT_MIRRORED, SEVERAL_CLUSTERS
from tests.placement.scheduled import pick_n
from tests.placement.world import World, now
from tests.support.eventually import eventually

Json = dict[str, Any]
SERVICE = Kind("", "v1", "Service", "services", namespaced=True)


def mirror(destination: str) -> Json:
    return {
        "type": "External",
        "reportBackStrategy": {"type": "Mirror", "destination": destination},
    }


async def serve(world: World) -> None:
    """Add a Service, which has a status, to the content."""
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    metadata = {"name": "web", "namespace": world.unique}
    await world.hub.create(SERVICE, {"metadata": metadata, "spec": spec})


def selectors(world: World) -> list[Json]:
    own = {"group": "", "version": "v1", "kind": "Service"} if world.home else None
    return [*world.selectors(), *([own] if own else [])]


async def answer(world: World, member: str, address: str) -> None:
    """Report, as the agent does, the address of the member's Service."""
    await world.report(member, manifests=[reported("web", world.unique, address)])


def reported(name: str, namespace: str, address: str) -> Json:
    """Return an agent's report on a Service."""
    observed = {
        "apiVersion": "v1",
        "kind": "Service",
        "status": {"loadBalancer": {"ingress": [{"ip": address}]}},
    }
    return {
        "identifier": {
            "ordinal": 1,
            "version": "v1",
            "kind": "Service",
            "resource": "services",
            "namespace": namespace,
            "name": name,
        },
        "conditions": [],
        "backReportedStatus": {"observedStatus": observed, "observationTime": now()},
    }


async def addresses(world: World) -> list[str]:
    service = await world.hub.get(SERVICE, "web", namespace=world.unique)
    return [each["ip"] for each in service["status"]["loadBalancer"].get("ingress", [])]


async def shown(world: World, address: str) -> None:
    async def look() -> bool:
        return await addresses(world) == [address]

    await eventually(look)


async def events(world: World) -> list[str]:
    found = await world.hub.list(EVENT, fields=f"involvedObject.name={world.name}")
    return [each["message"] for each in found.items if each["reason"] == NOT_MIRRORED]


async def roll_out(world: World, *, to: str = "OriginalResource", clusters: int = 1) -> str:
    """Place a Service whose status is reported to this destination; return its member."""
    member = await world.join("a")
    await serve(world)
    policy = world.pick_fixed(member) if clusters == 1 else pick_n(world, clusters)
    await world.place(policy, strategy=mirror(to), resourceSelectors=selectors(world))
    await world.snapshot(0)
    await world.roll_out(member)
    return member


async def test_the_original_shows_the_status_that_its_only_cluster_reports(world: World) -> None:
    member = await roll_out(world)

    await answer(world, member, "192.0.2.1")
    await shown(world, "192.0.2.1")

    await answer(world, member, "192.0.2.2")
    await shown(world, "192.0.2.2")
    assert len(await world.snapshots()) == 1, "a status is not new content"
    assert await events(world) == []


async def test_only_the_status_of_placed_objects_is_mirrored(world: World) -> None:
    unplaced = f"{world.unique}-unplaced"
    member = await roll_out(world)
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    metadata = {"name": unplaced, "namespace": "default"}
    await world.hub.create(SERVICE, {"metadata": metadata, "spec": spec})
    work = await eventually(lambda: world.work(member))
    forged = reported(unplaced, "default", "192.0.2.9")
    entries = [forged, reported("web", world.unique, "192.0.2.1")]
    await world.report_on(work, manifests=entries)
    await shown(world, "192.0.2.1")

    service = await world.hub.get(SERVICE, unplaced, namespace="default")
    assert service["status"] == {"loadBalancer": {}}
    await world.hub.delete(SERVICE, unplaced, namespace="default")


async def test_a_status_with_destination_work_is_not_mirrored_until_the_destination_changes(
    world: World,
) -> None:
    member = await roll_out(world, to="WorkAPI")
    await answer(world, member, "192.0.2.1")
    await world.told("Available", status="True")
    assert await addresses(world) == []

    await world.change(strategy=mirror("OriginalResource"))

    await shown(world, "192.0.2.1")


async def test_an_event_says_why_a_placement_on_several_clusters_is_not_mirrored(
    world: World,
) -> None:
    member = await roll_out(world, clusters=2)
    await answer(world, member, "192.0.2.1")

    async def told() -> bool:
        return await events(world) == [SEVERAL_CLUSTERS]

    await eventually(told)
    assert await addresses(world) == []

    await world.change(policy={"numberOfClusters": 1})

    await shown(world, "192.0.2.1")


async def test_an_event_reports_a_status_that_the_hub_refuses(world: World) -> None:
    member = await roll_out(world)

    await answer(world, member, "not an address")

    async def told() -> bool:
        said = await events(world)
        return len(said) == 1 and "status of Service web cannot be written" in said[0]

    await eventually(told)

    await answer(world, member, "192.0.2.1")
    await shown(world, "192.0.2.1")
